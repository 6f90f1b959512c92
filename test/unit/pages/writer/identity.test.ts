/** src/pages/writer/identity.ts: the identity of the program that wrote the pages. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../../src/disk/disk.ts';
import { programOf } from '../../../../src/pages/writer/identity.ts';

const ROOT = join(import.meta.dir, '../../../..');

/** Folders that decide what a page looks like. `refresh` decides when a page is written. */
const FOLDERS = ['src/pages/shop', 'src/pages/render', 'src/pages/writer', 'templates'];

/** The identity of a program in which one file was changed. */
function programWithChanged(changed: string | null): string {
  return programOf({
    ...machineDisk,
    stat(path) {
      const found = machineDisk.stat(path);
      return path === changed && found !== null ? { ...found, changedMs: 0 } : found;
    },
  });
}

test('a change of any file that decides what a page looks like changes the identity', () => {
  const program = programWithChanged(null);
  assert.is(programWithChanged(null), program);
  for (const folder of FOLDERS) {
    const names = readdirSync(join(ROOT, folder));
    assert.ok(names.length > 0, folder);
    for (const name of names) {
      assert.is.not(programWithChanged(join(ROOT, folder, name)), program, `${folder}/${name}`);
    }
  }
});

/** The files of the program that make pages, with all that they import, from the root. */
function importedByPages(): string[] {
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  const files = new Set(
    ['writer/create-writer.ts', 'shop/gather.ts'].map((name) => join(ROOT, 'src/pages', name)),
  );
  // The set grows meanwhile.
  for (const file of files) {
    const imported = file.endsWith('.ts')
      ? transpiler.scanImports(readFileSync(file, 'utf8')).map(({ path }) => path)
      : [];
    for (const path of imported.filter((each) => each.startsWith('.'))) {
      files.add(join(dirname(file), path));
    }
  }
  return [...files].map((file) => relative(ROOT, file));
}

test('a change of any module that makes pages, or of a package, changes the identity', () => {
  const program = programWithChanged(null);
  // How bytes get to the disk does not change what they are.
  const files = importedByPages().filter((file) => !file.startsWith('src/disk/'));
  for (const known of ['src/markup.ts', 'src/model/money.ts', 'templates/sku.njk']) {
    assert.ok(files.includes(known), known);
  }
  for (const file of [...files, 'package-lock.json']) {
    assert.is.not(programWithChanged(join(ROOT, file)), program, file);
  }
});

test('the identity includes every folder of src/pages except refresh', () => {
  const folders = readdirSync(join(ROOT, 'src/pages')).map((name) => `src/pages/${name}`);
  const decisive = FOLDERS.filter((folder) => folder !== 'templates');
  assert.equal(folders.toSorted(), [...decisive, 'src/pages/refresh'].toSorted());
});

test.run();
