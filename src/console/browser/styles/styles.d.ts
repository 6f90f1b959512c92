/** Style sheets, which the bundler puts into one file. */
declare module '*.css';
