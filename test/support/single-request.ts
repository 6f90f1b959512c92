/** A request that is sent once: whoever judges a history has to know what was asked, and how often. */
import { request } from 'node:http';

export interface SingleResponse {
  readonly status: number;
  readonly etag: string;
  /** The change set that the answer shows at least; 0 if it names none. */
  readonly sequence: number;
  readonly text: string;
}

/**
 * Sends a request on a connection of its own: nothing sends it again if the server is gone.
 *
 * @param headers besides the method and the body.
 * @throws if no complete answer comes.
 */
export function sendOnce(
  url: string,
  { method, body = '', ...headers }: Readonly<Record<string, string>>,
): Promise<SingleResponse> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, agent: false, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('error', reject);
      response.on('end', () => {
        if (!response.complete) return reject(new Error('the response is cut off'));
        const { etag = '', 'catalog-sequence': sequence } = response.headers;
        const status = response.statusCode ?? 0;
        return resolve({ status, etag, sequence: Number(sequence ?? 0), text });
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
