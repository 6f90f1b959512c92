/** Creates a page writer from the settings of a server or a command. */
import type { Disk } from '../../disk/disk.ts';
import { Renderer } from '../render/renderer.ts';
import type { PageSettings } from '../shop/settings.ts';
import { TemplateSources } from '../render/template-sources.ts';
import { Templates } from '../render/templates.ts';
import { wordsOf } from '../render/words.ts';
import { programOf } from './identity.ts';
import { PageWriter } from './page-writer.ts';

/** @throws CatalogError `page_failed` if the templates cannot be read; whatever the disk throws. */
export function createWriter(
  disk: Disk,
  dataDirectory: string,
  settings: PageSettings,
): PageWriter {
  const sources = new TemplateSources(disk, settings.templates);
  const fingerprint = JSON.stringify([settings, sources.digest(), programOf(disk)]);
  const renderer = new Renderer(new Templates(sources, wordsOf(settings.locale)), settings);
  return new PageWriter(disk, dataDirectory, renderer, fingerprint);
}
