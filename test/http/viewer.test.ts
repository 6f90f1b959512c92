/** What the API viewer at `/docs/` is given to resolve. */
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import { closeServices, openService } from '../support/service.ts';

test.after(closeServices);

interface Description {
  readonly paths?: Readonly<Record<string, object>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

type Resolve = (description: Description, path: readonly string[], options: object) => unknown;

interface Plugin {
  readonly afterLoad?: (system: { readonly fn: { resolveSubtree: Resolve } }) => void;
}

/** Runs the script of the viewer. @returns its resolver, which calls the one that is given. */
async function resolverOf(resolveSubtree: Resolve): Promise<Resolve> {
  const service = await openService();
  const { text } = await send(service, 'GET', '/docs/start.js');
  const fn = { resolveSubtree };
  const presets = { apis: {} };
  const Viewer = Object.assign(
    ({ plugins }: { readonly plugins: readonly (() => Plugin)[] }) => {
      for (const plugin of plugins) plugin().afterLoad?.({ fn });
    },
    { presets },
  );
  runInNewContext(text, {
    window: { SwaggerUIBundle: Viewer },
    document: { documentElement: { classList: { toggle: () => false } } },
    matchMedia: () => new EventTarget(),
  });
  return fn.resolveSubtree;
}

test('the viewer resolves a part of the description with what it refers to, and nothing else', async () => {
  const given: Parameters<Resolve>[] = [];
  const resolve = await resolverOf((...all) => given.push(all));
  const { json: whole } = await send(await openService(), 'GET', '/openapi.json');
  const size = JSON.stringify(whole).length;
  const options = {};
  const parts = Object.keys(whole.paths).map((path) => ['paths', path, 'get']);
  for (const path of [['components', 'securitySchemes'], ...parts]) {
    resolve(whole, path, options);
    const call = given.pop();
    assert.ok(call !== undefined);
    const [part, ...others] = call;
    assert.equal(others, [path, options]);
    const [member = '', name = ''] = path;
    assert.is(part[member as 'components']?.[name], whole[member][name]);
    assert.equal(Object.keys(part.paths ?? {}), member === 'paths' ? [name] : []);
    const text = JSON.stringify(part);
    const referred = [...text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)];
    for (const [, kind = '', referredName = ''] of referred) {
      assert.is(part.components[kind]?.[referredName], whole.components[kind][referredName]);
    }
    assert.ok(text.length < size / 4, `${path.join(' ')}: ${text.length} of ${size}`);
  }
  assert.ok(parts.length > 50);
});

test.run();
