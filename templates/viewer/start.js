/** Operations that every path has: the description keeps them, but nobody comes to read them. */
const UNLISTED = new Set(['head', 'options']);

/** Leaves HEAD and OPTIONS out of the list. */
const withoutUnlisted = () => {
  const listed = (operations) => operations.filter((each) => !UNLISTED.has(each.get('method')));
  const shorten = (tags) => tags.map((tag) => tag.update('operations', listed));
  return {
    statePlugins: {
      spec: {
        wrapSelectors: {
          taggedOperations:
            (original) =>
            (state, ...rest) => {
              const found = original(state, ...rest);
              if (typeof found !== 'function') return shorten(found);
              return (system) => shorten(found(system));
            },
        },
      },
    },
  };
};

const KEPT = 'catalog-server authorization';

/** Keeps the token until the tab is closed. The viewer itself would keep it in localStorage. */
const tokenOfTheTab = () => {
  const keeping =
    (original, system) =>
    (...args) => {
      const result = original(...args);
      const authorized = system.authSelectors.authorized().toJS();
      sessionStorage.setItem(KEPT, JSON.stringify(authorized));
      return result;
    };
  return { statePlugins: { auth: { wrapActions: { authorize: keeping, logout: keeping } } } };
};

const ui = window.SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  filter: true,
  // There are more than a hundred operations: a reader opens the group that is wanted.
  docExpansion: 'none',
  // The validator's badge would send the description to another host.
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [withoutUnlisted, tokenOfTheTab],
  onComplete() {
    const kept = sessionStorage.getItem(KEPT);
    if (kept !== null) ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
  },
});
