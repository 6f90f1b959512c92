/** A page writer from what a server or a command is told. */
import type { Disk } from '../../disk/disk.ts';
import { Renderer } from '../render/renderer.ts';
import type { PageSettings } from '../shop/settings.ts';
import { TemplateSources } from '../render/template-sources.ts';
import { Templates } from '../render/templates.ts';
import { programOf } from './identity.ts';
import { PageWriter } from './page-writer.ts';

/** @throws CatalogError `page_failed` if the templates cannot be read; what the disk throws. */
export function createWriter(
  disk: Disk,
  dataDirectory: string,
  settings: PageSettings,
): PageWriter {
  const sources = new TemplateSources(disk, settings.templates);
  const fingerprint = JSON.stringify([settings, sources.digest(), programOf(disk)]);
  const renderer = new Renderer(new Templates(sources), settings);
  return new PageWriter(disk, dataDirectory, renderer, fingerprint);
}
