/** The libraries in an executable: the SBOM and the licences. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { run } from './command.ts';
import { ROOT } from './paths.ts';

const Component = v.looseObject({
  name: v.string(),
  version: v.string(),
  properties: v.array(v.object({ name: v.string(), value: v.string() })),
});

const Bom = v.looseObject({
  bomFormat: v.literal('CycloneDX'),
  metadata: v.looseObject({ component: v.looseObject({ name: v.string() }) }),
  components: v.array(Component),
});

type Bom = v.InferOutput<typeof Bom>;

/**
 * Asks npm what package-lock.json installs without development dependencies.
 *
 * @param time the timestamp of the SBOM, ISO 8601. Apart from it and the random serial number,
 *   which is removed, all calls give the same result.
 * @returns a CycloneDX document.
 * @throws Error if npm fails, or prints something else.
 */
export function billOfMaterials(time: string): Bom {
  const printed = run(
    'npm',
    ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'],
    { cwd: ROOT },
  );
  const { serialNumber: _, ...bom } = v.parse(Bom, JSON.parse(printed.toString()));
  const { component } = bom.metadata;
  return {
    ...bom,
    metadata: {
      ...bom.metadata,
      timestamp: time,
      // npm would give the name of the directory.
      component: { ...component, name: 'catalog-server', type: 'application' },
    },
  };
}

/** The property in which npm gives the path of a package: `node_modules/preact`. */
const PATH_PROPERTY = 'cdx:npm:package:path';

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/**
 * Collects the licences of the packages of an SBOM.
 *
 * @returns a text with a part for each package, in order of their names.
 */
export function licencesOf(bom: Bom): string {
  const parts = bom.components.flatMap((component) => {
    const path = component.properties.find(({ name }) => name === PATH_PROPERTY)?.value;
    const directory = join(ROOT, path ?? join('node_modules', component.name));
    // npm also lists packages for other platforms. They are not installed, nor in the executable.
    if (!existsSync(directory)) return [];
    const texts = readdirSync(directory)
      .filter((name) => LICENCE_FILE.test(name))
      .toSorted()
      .map((name) => readFileSync(join(directory, name), 'utf8').trim());
    return [
      `${component.name} ${component.version}\n\n${texts.join('\n\n') || namedLicence(component)}`,
    ];
  });
  return `${parts.toSorted().join(`\n\n${'-'.repeat(79)}\n\n`)}\n`;
}

const Licences = v.fallback(v.array(v.object({ license: v.object({ id: v.string() }) })), []);

function namedLicence(component: v.InferOutput<typeof Component>): string {
  const names = v.parse(Licences, component['licenses']).map(({ license }) => license.id);
  return `Licence: ${names.join(', ') || 'see the package'}`;
}
