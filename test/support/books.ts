/** Books for tests of the store: rows, and the transactions that add them. */
import type { Transaction } from '../../src/store/writer/draft.ts';

/** A book whose other values are those that a test does not care about. */
export function bookRow(id: number, name: string) {
  return { id, name, pub_date: '1815-12-23', commentcount: 0, readcount: 0, image: '' };
}

/** A transaction that adds a book, and returns its id. @param name contains the id by default. */
export function addBook(name?: string): (transaction: Transaction) => number {
  return (transaction) => {
    const id = transaction.nextId('books');
    transaction.put('books', bookRow(id, name ?? `Book ${id}`));
    return id;
  };
}
