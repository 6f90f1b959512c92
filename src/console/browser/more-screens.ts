/**
 * All screens except the lists, and what a list needs only later, as one file: it is loaded when one
 * of them is needed, or when a list is there and the browser has nothing else to do.
 */
import { AccountScreen } from './accounts/account-screen.tsx';
import { AuditScreen } from './audits/audit-screen.tsx';
import { ItemScreen } from './forms/item-screen.tsx';
import { HomeScreen } from './home/home-screen.tsx';
import { ImportScreen } from './imports/import-screen.tsx';
import { BulkDelete } from './lists/bulk/bulk-delete.tsx';
import { BulkEdit } from './lists/bulk/bulk-edit.tsx';
import { writtenFile } from './lists/written-file.ts';
import { laterEn } from './messages/later-en.ts';
import { addEnglish } from './messages/text.ts';
import { showMore } from './parts/pickers/show-more.ts';

addEnglish(laterEn);

export {
  AccountScreen,
  AuditScreen,
  BulkDelete,
  BulkEdit,
  HomeScreen,
  ImportScreen,
  ItemScreen,
  showMore,
  writtenFile,
};
