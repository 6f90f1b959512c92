/** Gives the user a file. */
export function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read the address by then; the file itself is held until the download is done.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
