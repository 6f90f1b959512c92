/**
 * All screens but the lists, and what is done with several items, as one file: it is loaded when
 * one of them is needed, or when a list is there and the browser has nothing else to do.
 */
export { AccountScreen } from './accounts/account-screen.tsx';
export { AuditScreen } from './audits/audit-screen.tsx';
export { ItemScreen } from './forms/item-screen.tsx';
export { HomeScreen } from './home/home-screen.tsx';
export { ImportScreen } from './imports/import-screen.tsx';
export { BulkDelete } from './lists/bulk/bulk-delete.tsx';
export { BulkEdit } from './lists/bulk/bulk-edit.tsx';
