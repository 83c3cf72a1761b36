/** Defines the schema of endpoint policies, with type, default and documentation of every key. */

import { ratePattern } from '../values/quantities.ts'
import * as key from './keywords.ts'
import type { Static } from './type.ts'

const rate = (description: string) =>
  key.other<string>({
    type: 'string',
    pattern: ratePattern,
    expects: 'a number of requests and a duration, such as 600/1m',
    description,
  })

const header = (description: string) =>
  key.text(description, { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", expects: 'the name of a header' })

const hmac = key.group('The signature of a sender that is not a known provider.', {
  header: key.required(header('Header of the signature.')),
  algorithm: key.oneOf('Hash algorithm.', ['sha1', 'sha256', 'sha384', 'sha512'], { default: 'sha256' }),
  encoding: key.oneOf('Encoding of the signature.', ['hex', 'base64', 'base64url'], { default: 'hex' }),
  key: key.oneOf('Encoding of the secret.', ['text', 'hex', 'base64'], { default: 'text' }),
  signed: key.text(
    'The signed string, of {body}, {timestamp}, {id}, {url} and {method}: `{timestamp}.{body}`.',
    { default: '{body}', references: false },
  ),
  prefix: key.text('Prefix of the signature, such as `sha256=`.'),
  divider: key.anyText('Separator of several signatures in the header.', { minLength: 1 }),
  element: key.text('Name of the element with the signature, in a header such as `t=…,v1=…`.'),
  timestampHeader: header('Header of the timestamp.'),
  timestampElement: key.text('Name of the element with the timestamp, in the same header.'),
  timestampUnit: key.oneOf(
    'Seconds or milliseconds since 1970, or a string such as `2026-01-15T12:00:00Z`.',
    ['s', 'ms', 'rfc3339'],
    { default: 's' },
  ),
  idHeader: header('Header of the signed `{id}`.'),
  deliveryIdHeader: header('Header of the delivery id; repeats have the same id.'),
})

const challenge = key.group('How a sender that is not a known provider checks the address.', {
  method: key.oneOf('Method of the request.', ['GET', 'HEAD', 'POST'], { default: 'GET' }),
  query: key.text('Query parameter to echo.'),
  header: header('Header to echo.'),
  body: key.text('Field of the JSON body to echo; POST only, which must be signed.'),
  answer: key.oneOf(
    'Form of the answer: plain text, JSON with one `field`, or the same header.',
    ['text', 'json', 'header'],
    { default: 'text' },
  ),
  field: key.text('Field of the JSON answer. Default: the name of the echoed value.'),
  hmac: key.flag('Whether to answer with the digest of the value, as `verify.hmac` defines it.', {
    default: false,
  }),
  issuesSecret: key.flag(
    'Whether the value is the signing secret; it is kept in a file until `secret` is set.',
    { default: false },
  ),
})

const verify = key.group(
  "The provider's signature.",
  {
    provider: key.text('Provider: `github`, `slack`, … or `hmac` for any other.'),
    secret: key.textOrTexts(
      'Signing secret, as the provider shows it. A list during rotation, the newest first.',
    ),
    publicKey: key.textOrTexts('Public key of a sender that signs with a private key.'),
    tolerance: key.duration('Allowed age of a signature. Default: that of the provider.', {
      maxMs: 86_400_000,
    }),
    publicUrl: key.text('The address that the provider calls, for providers that sign it.', {
      pattern: '^https?://[^\\s/?#]+',
      expects: 'an address such as https://hooks.example.com/hooks/twilio',
    }),
    verifyToken: key.text('Meta: the token of its address check; not the secret.'),
    audience: key.text('Google: audience of its tokens. Default: `publicUrl`.'),
    serviceAccount: key.text('Google: service account that pushes.', {
      pattern: '^[^\\s@]{1,256}@[^\\s@]{1,256}$',
      expects: 'the e-mail address of an account',
      hint: 'It looks like push@project.iam.gserviceaccount.com.',
    }),
    topicArns: key.texts(
      'AWS SNS: accepted topics.',
      { minItems: 1 },
      {
        pattern: '^arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{1,40}:\\d{12}:[\\w-]{1,256}(\\.fifo)?$',
        expects: 'the ARN of a topic',
        hint: 'It looks like arn:aws:sns:eu-central-1:123456789012:alerts.',
      },
    ),
    signatureVersion: key.other<1 | 2>({
      type: 'integer',
      enum: [1, 2],
      description: 'AWS SNS: the only accepted version. Default: both.',
    }),
    allowedOrigins: key.texts(
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
  },
  { minProperties: 1 },
)

/**
 * The values that verify the requests of a sender, with the newest secret first. `provider` is absent only until the
 * policies of an endpoint are merged.
 */
export type VerifyPolicy = Static<typeof verify>
export type HmacPolicy = Static<typeof hmac>
export type ChallengePolicy = Static<typeof challenge>

/** The plugin of the provider checks the other keys, and which of them are required. */
const catchUp = key.other<Record<string, unknown> & { every: string; lookBack: string }>({
  type: 'object',
  properties: {
    every: key.duration('Interval. At least 1m, and less than `lookBack`.', {
      default: '10m',
      maxMs: 86_400_000,
    }),
    lookBack: key.duration('Maximum age of events. Each provider has its own limit.', { default: '3d' }),
  },
  required: ['every', 'lookBack'],
  description:
    'Fetches events that the provider could not deliver, at start and regularly. `reveille connect` writes it, with the keys of the provider.',
})

/** Asks a provider for what was missed. Its kind is that of `verify.provider`. */
export type CatchUpPolicy = Static<typeof catchUp>

export const endpointPolicySchema = key.keys(
  {
    maxBodyBytes: key.integer('Instead of `hooks.maxBodyBytes`.', { minimum: 1, maximum: 104_857_600 }),
    maxActions: key.integer('Instead of `hooks.maxActions`.', { minimum: 1 }),
    maxRenderedBytes: key.integer('Instead of `hooks.maxRenderedBytes`.', { minimum: 1 }),
    auth: key.oneOf(
      'Default: `signature` where `verify` has a secret, else `token`. `none` only on loopback.',
      ['token', 'signature', 'both', 'none'],
    ),
    token: key.textOrTexts('Opens this endpoint alone, besides `hooks.token`. A list during rotation.'),
    verify,
    concurrency: key.integer('Concurrent runs of this endpoint.', { minimum: 1, maximum: 1000 }),
    timeoutSeconds: key.integer(
      'Time limit of a run in seconds, unless the request or its mapping sets one.',
      { minimum: 1, maximum: 86_400 },
    ),
    rate: key.group(
      'Rate limits; requests above them are answered 429.',
      {
        endpoint: rate('Limit of all clients together, such as `600/1m`.'),
        client: rate('Limit per client, such as `60/1m`.'),
      },
      { minProperties: 1 },
    ),
    budget: key.dailyBudget('Budget of its runs per day (UTC); further ones are parked.'),
    bots: key.texts('Actors whose requests are ignored: `dependabot[bot]`; `*` is a wildcard.', {
      minItems: 1,
    }),
    expectEvery: key.duration('An issue opens when no request has arrived for this long.', {
      maxMs: 2_592_000_000,
    }),
    catchUp,
  },
  { $id: 'endpointPolicy' },
)

/** The keys are documented in the schema. In `token` the newest comes first. */
export type EndpointPolicy = Static<typeof endpointPolicySchema>

export type Auth = NonNullable<EndpointPolicy['auth']>

/** A number of requests in a period of at most a day: `600/1m`. */
export type RatePolicy = NonNullable<EndpointPolicy['rate']>

export const endpointPolicies = key.byName(
  'Policies by endpoint name, as in `match.path`.',
  endpointPolicySchema,
  { default: {} },
)
