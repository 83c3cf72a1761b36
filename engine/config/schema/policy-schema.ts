/** Defines the schema of endpoint policies, with type, default and documentation of every key. */

import { ratePattern } from '../values/quantities.ts'
import {
  byName,
  dailyBudget,
  duration,
  flag,
  integer,
  keys,
  oneOf,
  optional,
  text,
  textOrTexts,
  texts,
} from './keywords.ts'
import { type Static, Type } from './type.ts'

const rate = (description: string) =>
  Type.String({
    pattern: ratePattern,
    expects: 'a number of requests and a duration, such as 600/1m',
    description,
  })

const header = (description: string) =>
  text(description, { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", expects: 'the name of a header' })

const hmac = keys(
  {
    header: header('Header of the signature.'),
    algorithm: oneOf('Hash algorithm.', ['sha1', 'sha256', 'sha384', 'sha512'], { default: 'sha256' }),
    encoding: oneOf('Encoding of the signature.', ['hex', 'base64', 'base64url'], { default: 'hex' }),
    key: oneOf('Encoding of the secret.', ['text', 'hex', 'base64'], { default: 'text' }),
    signed: text(
      'The signed string, of {body}, {timestamp}, {id}, {url} and {method}: `{timestamp}.{body}`.',
      { default: '{body}', references: false },
    ),
    ...optional({
      prefix: text('Prefix of the signature, such as `sha256=`.'),
      divider: Type.String({ minLength: 1, description: 'Separator of several signatures in the header.' }),
      element: text('Name of the element with the signature, in a header such as `t=…,v1=…`.'),
      timestampHeader: header('Header of the timestamp.'),
      timestampElement: text('Name of the element with the timestamp, in the same header.'),
    }),
    timestampUnit: oneOf(
      'Seconds or milliseconds since 1970, or a string such as `2026-01-15T12:00:00Z`.',
      ['s', 'ms', 'rfc3339'],
      { default: 's' },
    ),
    ...optional({
      idHeader: header('Header of the signed `{id}`.'),
      deliveryIdHeader: header('Header of the delivery id; repeats have the same id.'),
    }),
  },
  { description: 'The signature of a sender that is not a known provider.' },
)

const challenge = keys(
  {
    method: oneOf('Method of the request.', ['GET', 'HEAD', 'POST'], { default: 'GET' }),
    ...optional({
      query: text('Query parameter to echo.'),
      header: header('Header to echo.'),
      body: text('Field of the JSON body to echo; POST only, which must be signed.'),
    }),
    answer: oneOf(
      'Form of the answer: plain text, JSON with one `field`, or the same header.',
      ['text', 'json', 'header'],
      { default: 'text' },
    ),
    ...optional({ field: text('Field of the JSON answer. Default: the name of the echoed value.') }),
    hmac: flag('Whether to answer with the digest of the value, as `verify.hmac` defines it.', {
      default: false,
    }),
    issuesSecret: flag(
      'Whether the value is the signing secret; it is kept in a file until `secret` is set.',
      { default: false },
    ),
  },
  { description: 'How a sender that is not a known provider checks the address.' },
)

const verify = keys(
  optional({
    provider: text('Provider: `github`, `slack`, … or `hmac` for any other.'),
    secret: textOrTexts(
      'Signing secret, as the provider shows it. A list during rotation, the newest first.',
    ),
    publicKey: textOrTexts('Public key of a sender that signs with a private key.'),
    tolerance: duration('Allowed age of a signature. Default: that of the provider.', { maxMs: 86_400_000 }),
    publicUrl: text('The address that the provider calls, for providers that sign it.', {
      pattern: '^https?://[^\\s/?#]+',
      expects: 'an address such as https://hooks.example.com/hooks/twilio',
    }),
    verifyToken: text('Meta: the token of its address check; not the secret.'),
    audience: text('Google: audience of its tokens. Default: `publicUrl`.'),
    serviceAccount: text('Google: service account that pushes.', {
      pattern: '^[^\\s@]{1,256}@[^\\s@]{1,256}$',
      expects: 'the e-mail address of an account',
      hint: 'It looks like push@project.iam.gserviceaccount.com.',
    }),
    topicArns: texts(
      'AWS SNS: accepted topics.',
      { minItems: 1 },
      {
        pattern: '^arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{1,40}:\\d{12}:[\\w-]{1,256}(\\.fifo)?$',
        expects: 'the ARN of a topic',
        hint: 'It looks like arn:aws:sns:eu-central-1:123456789012:alerts.',
      },
    ),
    signatureVersion: Type.Unsafe<1 | 2>({
      type: 'integer',
      enum: [1, 2],
      description: 'AWS SNS: the only accepted version. Default: both.',
    }),
    allowedOrigins: texts(
      'CloudEvents: origins that may ask to send.',
      { minItems: 1 },
      {
        pattern: '^[A-Za-z0-9.-]{1,253}(:\\d{1,5})?$',
        expects: 'the name of a sender',
        hint: 'It is a host name, without https:// and without a path.',
      },
    ),
    hmac,
    challenge,
  }),
  { minProperties: 1, description: "The provider's signature." },
)

/**
 * The values that verify the requests of a sender, with the newest secret first. `provider` is absent only until the
 * policies of an endpoint are merged.
 */
export type VerifyPolicy = Static<typeof verify>
export type HmacPolicy = Static<typeof hmac>
export type ChallengePolicy = Static<typeof challenge>

/** The plugin of the provider checks the other keys, and which of them are required. */
const catchUp = Type.Unsafe<Record<string, unknown> & { every: string; lookBack: string }>({
  type: 'object',
  properties: {
    every: duration('Interval. At least 1m, and less than `lookBack`.', {
      default: '10m',
      maxMs: 86_400_000,
    }),
    lookBack: duration('Maximum age of events. Each provider has its own limit.', { default: '3d' }),
  },
  required: ['every', 'lookBack'],
  description:
    'Fetches events that the provider could not deliver, at start and regularly. `reveille connect` writes it, with the keys of the provider.',
})

/** Asks a provider for what was missed. Its kind is that of `verify.provider`. */
export type CatchUpPolicy = Static<typeof catchUp>

export const endpointPolicySchema = keys(
  optional({
    maxBodyBytes: integer('Instead of `hooks.maxBodyBytes`.', { minimum: 1, maximum: 104_857_600 }),
    maxActions: integer('Instead of `hooks.maxActions`.', { minimum: 1 }),
    maxRenderedBytes: integer('Instead of `hooks.maxRenderedBytes`.', { minimum: 1 }),
    auth: oneOf('Default: `signature` where `verify` has a secret, else `token`. `none` only on loopback.', [
      'token',
      'signature',
      'both',
      'none',
    ]),
    token: textOrTexts('Opens this endpoint alone, besides `hooks.token`. A list during rotation.'),
    verify,
    concurrency: integer('Concurrent runs of this endpoint.', { minimum: 1, maximum: 1000 }),
    timeoutSeconds: integer('Time limit of a run in seconds, unless the request or its mapping sets one.', {
      minimum: 1,
      maximum: 86_400,
    }),
    rate: keys(
      optional({
        endpoint: rate('Limit of all clients together, such as `600/1m`.'),
        client: rate('Limit per client, such as `60/1m`.'),
      }),
      { minProperties: 1, description: 'Rate limits; requests above them are answered 429.' },
    ),
    budget: dailyBudget('Budget of its runs per day (UTC); further ones are parked.'),
    bots: texts('Actors whose requests are ignored: `dependabot[bot]`; `*` is a wildcard.', { minItems: 1 }),
    expectEvery: duration('An issue opens when no request has arrived for this long.', {
      maxMs: 2_592_000_000,
    }),
    catchUp,
  }),
  { $id: 'endpointPolicy' },
)

/** The keys are documented in the schema. In `token` the newest comes first. */
export type EndpointPolicy = Static<typeof endpointPolicySchema>

export type Auth = NonNullable<EndpointPolicy['auth']>

/** A number of requests in a period of at most a day: `600/1m`. */
export type RatePolicy = NonNullable<EndpointPolicy['rate']>

export const endpointPolicies = byName(
  'Policies by endpoint name, as in `match.path`.',
  endpointPolicySchema,
  { default: {} },
)
