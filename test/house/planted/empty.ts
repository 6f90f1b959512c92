/** A module without tests. */
export const nothing = null;
