/** The specifications of an SPU with their options. */
import { listAll } from '../../api/items.ts';
import { receive } from '../../api/client.ts';
import type { Items } from '../../api/types.ts';
import { textOf } from '../../api/text-of.ts';

export interface SpecChoices {
  readonly id: number;
  readonly name: string;
  readonly options: readonly { readonly id: number; readonly value: string }[];
}

/** Requests under way at the same time. */
const AT_ONCE = 6;

/** In the order in which they were made. @throws ApiError, TypeError, DOMException. */
export async function readSpecs(spu: number, signal: AbortSignal): Promise<SpecChoices[]> {
  const found = await receive<Items['specs'][]>(`/admin/goods/${spu}/specs/?per_page=1000`, {
    signal,
  });
  const specs: SpecChoices[] = [];
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE).map(async ({ id, name }) => {
      const options = await listAll('options', { spec_id: String(id) });
      return {
        id,
        name,
        options: options.map((each) => ({ id: each.id, value: textOf(each['value']) })),
      };
    });
    specs.push(...(await Promise.all(some)));
  }
  return specs;
}
