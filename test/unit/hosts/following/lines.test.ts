import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LineTooLong, linesOf } from '../../../../src/hosts/following/lines.ts';

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.slice(at, at + size);
    at += size;
  }
  yield bytes.slice(at);
}

async function read(pieces: AsyncIterable<Uint8Array>, limit = 1000): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(pieces, limit)) lines.push(line.toString());
  return lines;
}

test('lines are read as they were sent, however the stream is cut, without an incomplete last line', async () => {
  const lines = fc.array(fc.string().map((text) => `${text.replaceAll('\n', '')}\n`));
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.string().map((text) => text.replaceAll('\n', '')),
      fc.array(fc.nat(20)),
      async (sent, rest, sizes) => {
        const bytes = Buffer.from(sent.join('') + rest);
        assert.equal(
          await read(cut(bytes, sizes)),
          sent.map((text) => Buffer.from(text).toString()),
        );
      },
    ),
  );
});

test('the limit is that of one line, however many there are', async () => {
  const line = `${'a'.repeat(999)}\n`;
  assert.equal(await read(cut(Buffer.from(line.repeat(3)), [1500]), 1000), [line, line, line]);
});

test('a line that exceeds the limit is an error before its end is read', async () => {
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield new Uint8Array(100).fill(65);
  }
  const failed: unknown = await read(endless(), 1000).catch((error: unknown) => error);
  assert.instance(failed, LineTooLong);
  assert.match(String(failed), /longer than 1000 bytes/);
});

test.run();
