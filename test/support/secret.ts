/** The secret of the servers under test, for tests that sign tokens of their own. */
export const SECRET = 'a secret for tests alone, 32 bytes or more';
