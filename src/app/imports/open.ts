/** The imports of one catalog: those over HTTP, and those that commands ask for. */
import type { Disk } from '../../disk/disk.ts';
import { Money } from '../../model/money.ts';
import type { AuditedStore } from '../../resources/audit/audited-store.ts';
import { Imports } from '../../resources/transfer/imports.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { ServeOptions } from '../server-options.ts';
import { openImportFiles } from './import-files.ts';
import { ImportRequests } from './import-requests.ts';
import { withSmallHeap } from './small-heap.ts';

type Settings = Pick<
  ServeOptions,
  'data' | 'pages' | 'maxImport' | 'maxJsonDepth' | 'maxJsonElements'
> & {
  /** Whether hosts share a log. */
  readonly amongHosts: boolean;
};

/** @returns the imports; `close` ends the requests of commands, then the imports in progress. */
export async function openImports(
  options: Settings,
  audited: AuditedStore,
  disk: Disk,
  monitor: Pick<Monitor, 'onError'>,
): Promise<{ readonly imports: Imports; readonly close: () => Promise<void> }> {
  const { data, pages, maxImport, amongHosts } = options;
  const { currency } = pages;
  const imports = await Imports.open({
    audited,
    money: new Money(currency),
    storage: await openImportFiles(disk, data, amongHosts),
    jsonLimits: { depth: options.maxJsonDepth, elements: options.maxJsonElements },
    whenIndexed: () => audited.store.completeIndexes(),
    inSmallHeap: withSmallHeap,
    onError: monitor.onError('the files of an import could not be read or saved'),
  });
  const onError = monitor.onError('imports of commands have to wait');
  const requests = await ImportRequests.open({ disk, data, imports, currency, maxImport, onError });
  return {
    imports,
    async close() {
      await requests.close();
      await imports.close();
    },
  };
}
