/** `rebuild-pages` on the command line. */
import type { Command } from 'commander';
import type { Context } from '../../app/context.ts';
import { type Common, command } from '../command.ts';
import { toggle } from '../flags/flag.ts';
import { addPageOverrides, type PageFlags, pageFlagsOf } from '../flags/pages.ts';
import { parseSkuIds } from '../flags/values.ts';

/** Adds the command. Without ids, it renders all pages. */
export function declareRebuildPages(program: Command, context: Context): void {
  const rebuild = command(program, 'rebuild-pages', 'render the pages of the shop')
    .addOption(toggle('--stale', 'render only pages that are out of date'))
    .argument('[ids...]', 'SKUs whose pages to render (default: all pages)', parseSkuIds)
    .action(async (ids: number[], options: Common & PageFlags & { stale?: true }) => {
      const { rebuildPagesCommand } = await import('../commands/rebuild-pages.ts');
      await rebuildPagesCommand(
        {
          data: options.data,
          stale: options.stale ?? false,
          ids: ids.length === 0 ? null : [...new Set(ids)],
          pages: pageFlagsOf(options),
        },
        context,
      );
    });
  addPageOverrides(rebuild);
}
