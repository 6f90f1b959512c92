/** `serve` on the command line. */
import type { Command } from 'commander';
import type { Context } from '../../app/context.ts';
import type { ServeOptions } from '../../app/server-options.ts';
import { CatalogError } from '../../errors.ts';
import { DEFAULT_SETTINGS } from '../../pages/shop/settings.ts';
import { DEFAULT_AUDIT_BYTES } from '../../resources/audit.ts';
import { DEFAULT_CHECKPOINT_BYTES } from '../../store/files/file-log.ts';
import { DEFAULT_HISTORY_BYTES } from '../../store/files/history.ts';
import { type Common, command } from '../command.ts';
import { addArchiveFlags } from '../flags/archive.ts';
import { addClusterFlags } from '../flags/cluster.ts';
import { flag } from '../flags/flag.ts';
import { addLimitFlags, addTimeoutFlags, sizeFlag } from '../flags/limits.ts';
import { misspeltVariables } from '../flags/misspelt.ts';
import { addHostFlags, followOptionsOf, type HostFlags } from '../flags/hosts.ts';
import { addLoggingFlags } from '../flags/logging.ts';
import { addAddressFlags, addClientFlags } from '../flags/network.ts';
import { addPageFlags, type PageFlags, pageFlagsOf } from '../flags/pages.ts';
import { parseAuditSize, parseCheckpointSize, parseHistory } from '../flags/sizes.ts';
import { parseWorkers } from '../flags/values.ts';

/** The flags as commander names them, most of which are options of the server. */
type ServeFlags = Common &
  PageFlags &
  HostFlags &
  Omit<ServeOptions, 'corsOrigins' | 'pages' | 'follow'> & {
    readonly corsOrigin?: readonly string[];
  };

const EXAMPLES = `
Sizes are in bytes, or have a unit: KiB, MiB or GiB.
Durations have a unit: s, m, h, d or w.
A flag takes precedence over its environment variable.

Examples:
  Serve ./data at http://127.0.0.1:8000:
    catalog-server serve
  Listen on every address, below /api, with metrics for this machine alone:
    catalog-server serve --host 0.0.0.0 --base-path /api \\
      --metrics-host 127.0.0.1 --metrics-port 9090
  Show prices in euros and pages in German, behind a proxy on this machine:
    catalog-server serve --currency EUR --locale de --trust-proxy loopback \\
      --public-url https://shop.example/pages
  Follow another host, and take its place if it is lost:
    catalog-server serve --follow https://primary.example --token-file token
    catalog-server promote`;

/** Adds the command, which runs until a signal comes. */
export function declareServe(program: Command, context: Context): void {
  const serve = command(program, 'serve', 'run the server')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: ServeFlags) => {
      // Loaded only here: the other commands start faster without the server's libraries.
      const { serve: run } = await import('../../app/serve.ts');
      const warnings = misspeltVariables(serve, context.env);
      await run({ ...serveOptionsOf(flags), warnings }, context);
    });
  addAddressFlags(serve);
  serve.addOption(
    flag('--workers <number>', 'processes that serve requests', parseWorkers, { value: 1 }),
  );
  addPageFlags(serve);
  addClientFlags(serve);
  serve.optionsGroup('Audit trail:').addOption(
    flag(
      '--audit-size <MiB>',
      'total size of the audit entries to keep; 0 for none',
      parseAuditSize,
      {
        value: DEFAULT_AUDIT_BYTES,
        shown: String(DEFAULT_AUDIT_BYTES / 2 ** 20),
      },
    ),
  );
  addChangeFlags(serve);
  addArchiveFlags(serve);
  addHostFlags(serve);
  addClusterFlags(serve);
  addLoggingFlags(serve);
  addLimitFlags(serve);
  addTimeoutFlags(serve);
}

function addChangeFlags(serve: Command): void {
  serve
    .optionsGroup('Changes:')
    .addOption(
      sizeFlag(
        '--history',
        'total size of the change sets to keep for readers; 0 for none',
        DEFAULT_HISTORY_BYTES,
        parseHistory,
      ),
    )
    .addOption(
      sizeFlag(
        '--checkpoint-size',
        'write a checkpoint when the change sets exceed this size and that of catalog.json',
        DEFAULT_CHECKPOINT_BYTES,
        parseCheckpointSize,
      ),
    );
}

function serveOptionsOf(flags: ServeFlags): ServeOptions {
  const { follow: _, ...rest } = flags;
  const follow = followOptionsOf(flags);
  if (flags.workers > 1 && (follow ?? flags.log) !== undefined) {
    throw new CatalogError(
      'usage',
      'a host with --log or --follow has only one worker; leave out --workers',
    );
  }
  return {
    ...rest,
    ...(follow !== undefined && { follow }),
    corsOrigins: flags.corsOrigin ?? [],
    pages: { ...DEFAULT_SETTINGS, ...pageFlagsOf(flags) },
  };
}
