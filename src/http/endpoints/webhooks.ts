/** `/admin/webhooks/`: what it has beyond other collections, the secret and the deliveries. */
import type { Kind, Row } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import type { Address } from '../../resources/address.ts';
import { parseInput } from '../../resources/input.ts';
import { inSlices } from '../../slices.ts';
import type { HttpResponse } from '../message.ts';
import { noBody } from '../operations/body.ts';
import { count, instant, text } from '../operations/common-schemas.ts';
import { arrayOf, defineShape, negotiatedJson, type Shape } from '../operations/content.ts';
import { type Operation, operation, type RequestContext } from '../operations/operation.ts';
import { IDEMPOTENCY_KEY, PK } from '../operations/parameters.ts';
import { definePath, type Path } from '../operations/path.ts';
import { JSON_OFFERS } from '../rules/negotiation.ts';
import { bodyOf } from './kinds/attributes.ts';
import { creation } from './kinds/collections.ts';
import { type Place, roleFor, tagOf } from './kinds/place.ts';
import { PAGING } from './kinds/list-parameters.ts';
import { demoExamples, inputOf, oneOf } from './kinds/shapes.ts';
import { shortListOf } from './lists.ts';

const KIND: Kind = KINDS.webhooks;

const PLACE: Place = { kind: KIND, nesting: null, protectBooks: false };

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

const WITH_SECRET: Shape = {
  name: 'WebhookWithSecret',
  schema() {
    const [shape] = oneOf(KIND).shapes;
    const { properties, required } = shape?.schema() ?? {};
    return {
      type: 'object',
      description:
        'A new webhook with the secret of its signatures, which no other response contains.',
      properties: {
        ...(properties as object),
        secret: {
          ...text,
          pattern: '^whsec_[A-Za-z0-9+/]+=*$',
          description:
            'The secret with which to verify deliveries, as specified by Standard Webhooks. Store it: it cannot be read again.',
        },
      },
      required: [...(required as readonly string[]), 'secret'],
      examples: [exampleWithSecret()],
    };
  },
};

function exampleWithSecret(): object {
  return { ...demoExamples().objects(KIND, 1)[0], secret: SECRET };
}

const DELIVERY_EXAMPLE = {
  id: 'msg_1_1042_3f9c2a7be104_1',
  sequence: 1042,
  changes: 3,
  state: 'failed',
  attempts: 2,
  first_attempt: '2026-11-21T08:15:00.120Z',
  last_attempt: '2026-11-21T08:15:02.040Z',
  next_attempt: '2026-11-21T08:15:05.760Z',
  status: 503,
  error: null,
};

const DELIVERY = defineShape({
  name: 'Delivery',
  description: 'The state of the delivery of a message to a webhook.',
  properties: {
    id: { ...text, description: 'The `webhook-id` of the message, the same at every attempt.' },
    sequence: { ...count, description: 'The number of the change set in the message.' },
    changes: { ...count, description: 'The number of changes in the message.' },
    state: {
      ...text,
      enum: ['delivered', 'failed', 'skipped'],
      description:
        '`failed` is tried again at `next_attempt`. `skipped` stands for changes that are no longer kept.',
    },
    attempts: count,
    first_attempt: instant,
    last_attempt: instant,
    next_attempt: { ...instant, type: ['string', 'null'] },
    status: {
      type: ['integer', 'null'],
      description: 'The status of the last response; null if there was none.',
    },
    error: {
      type: ['string', 'null'],
      description: 'Why there was no response, or what is wrong with it.',
    },
  },
  example: DELIVERY_EXAMPLE,
});

/** POST of the collection. */
export function createWebhook(place: Place): Operation<Address> {
  return operation({
    id: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'Changes from now on are sent to its URL. The response contains the secret with which the deliveries are signed; no other response contains it.',
    role: roleFor(place, 'POST'),
    parameters: [IDEMPOTENCY_KEY],
    body: bodyOf(KIND, inputOf(KIND), (body) => inSlices(parseInput(KIND, body, 'whole'))),
    responses: {
      201: {
        name: 'WebhookCreated',
        description: 'The new webhook, with its secret.',
        headers: ['Location', 'ETag', 'Idempotent-Replayed?', 'Preference-Applied?'],
        content: negotiatedJson(WITH_SECRET, {
          WebhookWithSecret: () => ({ summary: 'A new webhook', value: exampleWithSecret() }),
        }),
      },
    },
    failures: [409],
    run: create,
  });
}

function create(context: RequestContext<Address>, body: unknown): Promise<HttpResponse> {
  return creation(context, (sender) => context.services.webhooks.create(body, sender));
}

export const DELIVERIES_PATH: Path = definePath<Row>({
  template: `${KIND.path}{${PK.name}}/deliveries/`,
  executor: 'writer',
  parameters: [PK],
  tag: tagOf(PLACE),
  name: 'DeliveryList',
  about: 'deliveries to a webhook',
  label: 'delivery',
  offers: JSON_OFFERS,
  resolve: (params, { records }) => records.find({ kind: KIND, parent: null }, params.id(PK.name)),
  operations: {
    GET: operation({
      id: 'listDeliveries',
      summary: 'List the deliveries to a webhook',
      description:
        'The last 100 deliveries, the latest first. All of them are returned unless the query requests a page.',
      role: roleFor(PLACE, 'GET'),
      parameters: PAGING,
      body: noBody,
      responses: {
        200: {
          name: 'DeliveryList',
          description: 'The deliveries.',
          headers: ['X-Total-Count'],
          content: arrayOf(negotiatedJson(DELIVERY, {}), {
            DeliveryList: () => ({ summary: 'Deliveries', value: [DELIVERY_EXAMPLE] }),
          }),
          head: { name: 'DeliveryListHead', description: 'The number of deliveries.' },
        },
      },
      run: async (context: RequestContext<Row>) =>
        shortListOf(context, {
          owner: 'deliveries',
          all: await context.services.webhooks.deliveriesOf(context.found.id),
          segments: 'deliveries/',
        }),
    }),
  },
});
