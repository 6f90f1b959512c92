// What the bundler embeds as text.
declare module '*.njk' {
  const text: string;
  export default text;
}
declare module '*/style.css' {
  const text: string;
  export default text;
}
declare module '*/viewer/start.js' {
  const text: string;
  export default text;
}
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const text: string;
  export default text;
}
declare module 'swagger-ui-dist/swagger-ui.css' {
  const text: string;
  export default text;
}
