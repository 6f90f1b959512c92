/** Templates of the operator: which can be replaced, and how an error is located. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../../src/disk/disk.ts';
import { TEMPLATE_NAMES, TemplateSources } from '../../../../src/pages/render/template-sources.ts';
import { Templates } from '../../../../src/pages/render/templates.ts';
import { MAX_STEPS } from '../../../../src/pages/render/steps.ts';
import { wordsOf } from '../../../../src/pages/render/words.ts';
import { directoryWith, temporaryDirectory } from '../../../support/directory.ts';

test('an error is reported with the file and line of the template that contains it', () => {
  const pageOfSku = {
    sku: {
      id: 1,
      name: 'N',
      caption: '',
      stock: 1,
    },
    brand: {
      name: 'B',
      logo: null,
    },
    spu: {
      name: 'S',
      page: '',
      detail: '',
      pack: '',
      service: '',
    },
    price: '1',
    root: '',
    exactPrice: '1',
    marketPrice: null,
    stock: '1',
    choices: [],
    specifications: [],
    title: 'T',
    shop: {
      name: 'S',
      locale: 'en',
      direction: 'ltr',
      currency: 'USD',
    },
    description: '',
    canonical: null,
    style: '',
    jsonLd: [],
    crumbs: [],
  };
  for (const [file, text, line] of [
    ['layout.njk', '<html>{% block main %}{% endblock %}\n\n{{ nobody }}', 3],
    ['brand.njk', 'by\n{{ no }}', 2],
    ['texts.njk', '\n\n{% bad %}', 3],
    ['picture.njk', '\n{{ sku.name | shout }}', 2],
    ['picture.njk', '\n{% if no %}\n{% elif sku is nothing %}\n{% endif %}', 3],
    ['picture.njk', '\n{% include "none.njk" %}', 2],
    ['picture.njk', '\n{% for each in sku.name | shout %}\n{% endfor %}', 2],
    ['picture.njk', '\n{% block main %}\n\n{{ super() }}{% endblock %}', 2],
    // What follows these tags is run by nunjucks inside the template that they name.
    ['picture.njk', '\n{% import "parts.njk" as parts %}\n{{ sku.name | shout }}', 3],
    ['picture.njk', '\n{% from "parts.njk" import nothing %}', 2],
    ['picture.njk', '\n{% include "brand.njk" %}\n{% set x = sku.name | shout %}', 3],
    [
      'picture.njk',
      '{% extends "brand.njk" %}{% block b %}\n{{ super() }}\n{{ no }}{% endblock %}',
      3,
    ],
    ['parts.njk', '{% macro part() %}\n\n{{ 1 | shout }}{% endmacro %}', 3],
    // The parser gives these errors no line.
    ['picture.njk', '\n{{ sku.name | replace(r/[/, "") }}\n\n\n', 2],
    ['picture.njk', '\n#}\n\n', 2],
  ] as const) {
    const uses = '{% import "parts.njk" as parts %}{{ parts.part() }}';
    const directory = directoryWith({
      'brand.njk': '{% block b %}B{% endblock %}',
      ...(file === 'parts.njk' && { 'picture.njk': uses }),
      [file]: text,
    });
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    try {
      made.render('sku.njk', pageOfSku);
      assert.unreachable();
    } catch (error) {
      assert.ok(
        (error as Error).message.startsWith(`${directory}/${file}:${line}: `),
        String(error),
      );
    }
  }
});

test('a block can contain the block that it replaces', () => {
  const directory = directoryWith({
    'sku.njk':
      '{% extends "layout.njk" %}{% block title %}{{ super() }}, buy it{% endblock %}' +
      '{% block main %}{{ super() }}Main{% endblock %}',
    'layout.njk':
      '<title>{% block title %}{{ name }}{% endblock %}</title>{% block main %}{% endblock %}',
  });
  const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
  assert.is(made.render('sku.njk', { name: 'Phone' }), '<title>Phone, buy it</title>Main');
});

/** A layout, a template that extends it, and one that includes another with a block of its own. */
const FAMILY = {
  'layout.njk': '{% block title %}T{% endblock %}{% block main %}{% endblock %}',
  'shelf.njk':
    '{% extends "layout.njk" %}{% block main %}{% block item %}{% endblock %}{% endblock %}',
  'picture.njk': '{% block picture %}P{% endblock %}',
  'brand.njk': 'B',
};

test('a template that extends others may fill the blocks of all of them, and nest new ones', () => {
  for (const [text, page] of [
    ['{% extends "shelf.njk" %}{% block title %}N{% endblock %}', 'N'],
    ['{% extends "shelf.njk" %}{% block item %}I{% endblock %}', 'TI'],
    [
      '{% extends "layout.njk" %}{% block main %}{% block new %}N{% endblock %}{% endblock %}',
      'TN',
    ],
    ['{% extends "layout.njk" %}{% block main %}{% include "picture.njk" %}{% endblock %}', 'TP'],
    ['{% set to = "layout.njk" %}{% extends to %}{% block more %}M{% endblock %}', 'T'],
    ['\n{# Ours #}\n{% extends "layout.njk" %}\n\n{% set x = 1 %}\n', 'T'],
    ['{% block contents %}C{% endblock %}', 'C'],
    // A layout may leave these out, although built-in templates fill them.
    [
      '{% extends "picture.njk" %}{% block title %}{% endblock %}{% block meta %}{% endblock %}',
      'P',
    ],
  ] as const) {
    const directory = directoryWith({ ...FAMILY, 'sku.njk': text });
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    assert.is(made.render('sku.njk', {}).trim(), page, text);
  }
});

test('a template that extends another one only under a condition may have text outside of blocks', () => {
  const text =
    '{% if framed %}{% extends "layout.njk" %}{% endif %}<p>{% block main %}Own{% endblock %}</p>';
  const directory = directoryWith({
    'sku.njk': text,
    'layout.njk': '[{% block main %}{% endblock %}]',
  });
  const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
  assert.is(made.render('sku.njk', { framed: true }), '[Own]');
  assert.is(made.render('sku.njk', { framed: false }), '<p>Own</p>');
});

test('a block that is on no page, text outside of blocks, and a name of two blocks are reported', () => {
  for (const [text, says] of [
    [
      '{% extends "shelf.njk" %}\n\n{% block mian %}{% endblock %}',
      '3: no block is called mian in a template that this one extends; there are item, main, title',
    ],
    [
      '{% block titel %}\n{% endblock %}{% extends "layout.njk" %}',
      '1: no block is called titel in a template that this one extends; there are main, title',
    ],
    [
      '{% extends "layout.njk" %}\n{% if 1 %}\n{% block a %}{% endblock %}{% endif %}',
      '3: no block is called a in a template that this one extends; there are main, title',
    ],
    [
      '{% extends "brand.njk" %}\n{% block main %}{% endblock %}',
      '2: no block is called main in a template that this one extends; there are none',
    ],
    ['{% extends "picture.njk" %}\n\n\n<p>Lost</p>', '4: only what is in a block is on the page'],
    ['{% block a %}{% endblock %}\n{% block a %}{% endblock %}\n\n', '2: two blocks are called a'],
    ['{% extends "picture.njk" %}\n{{ 1 }}', '2: only what is in a block is on the page'],
  ] as const) {
    const directory = directoryWith({ ...FAMILY, 'sku.njk': text });
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    assert.throws(
      () => made.render('sku.njk', {}),
      (error: Error) => {
        assert.ok(error.message.startsWith(`${directory}/sku.njk:${says}`), error.message);
        return true;
      },
    );
  }
});

test('an include says whether its template may be missing', () => {
  const directory = directoryWith({
    'sku.njk': '{% include "none.njk" ignore missing %}Main',
    'spu.njk': '\n{% include "none.njk" %}',
  });
  const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
  assert.is(made.render('sku.njk', {}), 'Main');
  assert.throws(
    () => made.render('spu.njk', {}),
    (error: Error) => error.message === `${directory}/spu.njk:2: template not found: none.njk`,
  );
});

test('a template in another encoding is reported, and no page is made with it', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'sku.njk');
  for (const text of [Buffer.from('Größe', 'latin1'), Buffer.from('\uFEFFSize', 'utf16le')]) {
    writeFileSync(path, text);
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    assert.throws(
      () => made.render('sku.njk', {}),
      (error: Error) => error.message.includes(`${path} is not UTF-8; save it in this encoding`),
    );
  }
});

test('a part in another encoding is reported, whatever its name ends in', () => {
  const directory = directoryWith({ 'sku.njk': 'a\n{% include "part.html" %}' });
  writeFileSync(join(directory, 'part.html'), Buffer.from('Größe', 'latin1'));
  const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
  assert.throws(
    () => made.render('sku.njk', {}),
    (error: Error) =>
      error.message ===
      `${directory}/sku.njk:2: ${directory}/part.html is not UTF-8; save it in this encoding`,
  );
});

test('the digest of the templates changes if a file gets another name, or another content', () => {
  const directory = directoryWith({ 'sku.njk': 'text' });
  const digest = () => new TemplateSources(machineDisk, directory).digest();
  const first = digest();
  renameSync(join(directory, 'sku.njk'), join(directory, 'spu.njk'));
  const renamed = digest();
  writeFileSync(join(directory, 'spu.njk'), 'another');
  assert.is(new Set([first, renamed, digest()]).size, 3);
});

test('a byte order mark at the beginning of a template is not on the page', () => {
  const directory = directoryWith({
    'sku.njk': '\uFEFF<head>{% include "meta.njk" %}</head>',
    'meta.njk': '\uFEFF<meta name="a">',
  });
  const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
  assert.is(made.render('sku.njk', {}), '<head><meta name="a"></head>');
});

/** Templates whose statements are all in the second line. */
const ENDLESS = {
  'a long range': '{% for i in range(0, 1000000000000) %}{% endfor %}',
  'a range whose step is too small':
    '{% set x = range(10000000000000000, 100000000000000000, 1) %}',
  'a range that falls without end': '{% set x = range(0, 0 - 1 / 0, 0 - 1) %}',
  'nested loops':
    '{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}',
  'nested loops of a macro':
    '{% macro m() %}{% for i in range(1000) %}{% set x = i %}{% endfor %}{% endmacro %}' +
    '{% for i in range(100000) %}{{ m() }}{% endfor %}',
  'nested loops of an included template':
    '{% for i in range(100000) %}{% include "brand.njk" %}{% endfor %}',
};

for (const [what, text] of Object.entries(ENDLESS)) {
  test(`a template that does not end is given up, and its line is reported: ${what}`, () => {
    const directory = directoryWith({
      'sku.njk': `\n${text}`,
      'brand.njk': '\n{% for i in range(1000) %}{% endfor %}',
      'spu.njk': '{% for i in range(5) %}{{ i }}{% endfor %}',
    });
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    assert.throws(
      () => made.render('sku.njk', {}),
      (error: Error) => {
        assert.match(
          error.message,
          new RegExp(`^${directory}/(?:sku|brand)\\.njk:2: gave up after`),
        );
        return true;
      },
    );
    assert.is(made.render('spu.njk', {}), '01234', 'other templates are rendered');
  });
}

/** Templates whose second line makes a longer text than a page may have. */
const LONG = {
  'a centered word': '{{ "x" | center(2000000000) }}',
  'an indented text': '{{ "x\\ny" | indent(1000000000) }}',
  'many indented lines': '{{ lines | indent(10000) }}',
  'a batch that is filled': '{% set x = [1] | batch(1000000000, 0) %}',
  'a list in many slices': '{% set x = [1] | slice(1000000000) %}',
  'a word that is doubled':
    '{% set s = "x" %}{% for i in range(28) %}{% set s = s ~ s %}{% endfor %}{{ s }}',
  'a text that is repeated': `{% for i in range(900000) %}${'x'.repeat(100)}{% endfor %}`,
  'a value that is repeated': '{% for i in range(9000) %}{{ lines }}{% endfor %}',
};

for (const [what, text] of Object.entries(LONG)) {
  test(`a template whose page is too long is given up, and its line is reported: ${what}`, () => {
    const directory = directoryWith({ 'sku.njk': `\n${text}`, 'spu.njk': '{{ lines }}' });
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    const lines = 'x\n'.repeat(2000);
    assert.throws(
      () => made.render('sku.njk', { lines }),
      (error: Error) => {
        assert.match(error.message, new RegExp(`^${directory}/sku\\.njk:2: gave up after`));
        return true;
      },
    );
    assert.is(made.render('spu.njk', { lines }), lines, 'other templates are rendered');
  });
}

test('padding is that of nunjucks', () => {
  for (const [filter, text] of [
    ['center(5)', ' ab  '],
    ['center', ' '.repeat(39) + 'ab' + ' '.repeat(39)],
    ['center(1)', 'ab'],
    ['indent(2, true)', '  ab'],
    ['batch(1) | length', '2'],
    ['batch(3, "-") | join("/")', 'a,b,-'],
    ['slice(2) | join("/")', 'a/b'],
  ] as const) {
    const value = /batch|slice/.test(filter) ? '["a", "b"]' : '"ab"';
    const directory = directoryWith({ 'sku.njk': `{{ ${value} | ${filter} }}` });
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    assert.is(made.render('sku.njk', {}), text, filter);
  }
});

test('a template or a macro that uses itself is reported as such', () => {
  for (const text of [
    '{% extends "sku.njk" %}',
    '{% include "sku.njk" %}',
    '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
  ]) {
    // On one line: the stack may end at the beginning of the template or at the tag.
    const directory = directoryWith({ 'sku.njk': text });
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    assert.throws(
      () => made.render('sku.njk', {}),
      (error: Error) =>
        error.message.startsWith(`${directory}/sku.njk:1: a template or a macro uses itself`),
      text,
    );
  }
});

test('a template may take many steps, in every rendering anew', () => {
  const steps = MAX_STEPS / 4;
  const text = `{% for i in range(${steps}) %}x{% endfor %}`;
  const directory = directoryWith({ 'sku.njk': text });
  const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
  for (const _ of [1, 2, 3]) assert.is(made.render('sku.njk', {}).length, steps);
});

test('ranges are those of nunjucks', () => {
  for (const [call, numbers] of [
    ['range(3)', '0,1,2'],
    ['range(2, 5)', '2,3,4'],
    ['range(0, 10, 4)', '0,4,8'],
    ['range(3, 0, -1)', '3,2,1'],
    ['range(0, 2, 0)', '0,1'],
    ['range(3, 1)', ''],
  ] as const) {
    const directory = directoryWith({ 'sku.njk': `{{ ${call} }}` });
    const made = new Templates(new TemplateSources(machineDisk, directory), wordsOf('en'));
    assert.is(made.render('sku.njk', {}), numbers, call);
  }
});

test('the operator can replace every template of the program', () => {
  const directory = temporaryDirectory();
  for (const name of TEMPLATE_NAMES) {
    const own = join(directory, name.replace('.', '-'));
    mkdirSync(own);
    writeFileSync(join(own, name), `own ${name}`);
    const made = new Templates(new TemplateSources(machineDisk, own), wordsOf('en'));
    assert.is(name === 'style.css' ? made.style : made.render(name, {}), `own ${name}`);
  }
});

test.run();
