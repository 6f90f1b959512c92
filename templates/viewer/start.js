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

/**
 * A description with only one path, or one kind of components, and what that refers to.
 * The second argument says where it is, such as `['paths', '/books/', 'get']`.
 */
const partOf = (whole, [member, name]) => {
  const { openapi, info, servers } = whole;
  const part = {
    openapi,
    info,
    servers,
    components: {},
    [member]: { [name]: whole[member][name] },
  };
  const follow = (from) => {
    const references = JSON.stringify(from).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g);
    for (const [, kind, referred] of references) {
      const known = (part.components[kind] ??= {});
      if (referred in known) continue;
      known[referred] = whole.components[kind][referred];
      follow(known[referred]);
    }
  };
  follow(part);
  return part;
};

/**
 * Gives the resolver of references what it needs: the viewer gives it the whole description for each
 * operation that is opened, and once at the start, which takes seconds each time.
 */
const resolvedInParts = () => ({
  afterLoad({ fn }) {
    const { resolveSubtree } = fn;
    fn.resolveSubtree = (whole, path, ...rest) =>
      resolveSubtree(partOf(whole, path), path, ...rest);
  },
});

const KEPT = 'catalog-server authorization';

/** The storage of the tab; undefined if the browser forbids it, for example with all cookies. */
const storage = (() => {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
})();

/** Keeps the token until the tab is closed. The viewer itself would keep it in localStorage. */
const tokenOfTheTab = () => {
  const keeping =
    (original, system) =>
    (...args) => {
      const result = original(...args);
      const authorized = system.authSelectors.authorized().toJS();
      storage?.setItem(KEPT, JSON.stringify(authorized));
      return result;
    };
  return { statePlugins: { auth: { wrapActions: { authorize: keeping, logout: keeping } } } };
};

const dark = matchMedia('(prefers-color-scheme: dark)');
const showScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', showScheme);
showScheme();

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
  plugins: [withoutUnlisted, tokenOfTheTab, resolvedInParts],
  onComplete() {
    const kept = storage?.getItem(KEPT);
    if (typeof kept === 'string')
      ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
  },
});
