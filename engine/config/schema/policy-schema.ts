/** Defines the schema of endpoint policies, with type, default and documentation of every key. */

import { ratePattern } from '../values/rate.ts'
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
    header: header('Where the signature stands.'),
    algorithm: oneOf('The digest.', ['sha1', 'sha256', 'sha384', 'sha512'], { default: 'sha256' }),
    encoding: oneOf('How the signature is written.', ['hex', 'base64', 'base64url'], { default: 'hex' }),
    key: oneOf('How the secret becomes the key: as it is, or decoded.', ['text', 'hex', 'base64'], {
      default: 'text',
    }),
    signed: text(
      'What is signed, with {body}, {timestamp}, {id}, {url} and {method}: `{timestamp}.{body}`.',
      { default: '{body}', references: false },
    ),
    ...optional({
      prefix: text('What stands before the signature, such as `sha256=`.'),
      divider: Type.String({
        minLength: 1,
        description: 'What stands between several signatures of one header.',
      }),
      element: text('The header is a list such as `t=…,v1=…`, and the signature its element of this name.'),
      timestampHeader: header('Where the time of the signature stands.'),
      timestampElement: text('The element of the same header where the time of the signature stands.'),
    }),
    timestampUnit: oneOf(
      'Seconds or milliseconds since 1970, or a string such as `2026-01-15T12:00:00Z`.',
      ['s', 'ms', 'rfc3339'],
      { default: 's' },
    ),
    ...optional({
      idHeader: header('Where the `{id}` that is signed stands.'),
      deliveryIdHeader: header('Where the id of a delivery stands; the same when it is sent again.'),
    }),
  },
  { description: 'How a sender signs that `provider` has no name for.' },
)

const challenge = keys(
  {
    method: oneOf('How the sender asks.', ['GET', 'HEAD', 'POST'], { default: 'GET' }),
    ...optional({
      query: text('The parameter of the query that is to be echoed.'),
      header: header('The header that is to be echoed.'),
      body: text('The field of the JSON body that is to be echoed; of a signed POST.'),
    }),
    answer: oneOf(
      'The answer: plain text, JSON with one `field`, or the same header.',
      ['text', 'json', 'header'],
      { default: 'text' },
    ),
    ...optional({
      field: text('The field of the JSON that is answered. Default: the name of what is echoed.'),
    }),
    hmac: flag('Whether its digest is answered instead, made and written as `verify.hmac` says.', {
      default: false,
    }),
    issuesSecret: flag('Whether it is the secret to sign with: kept in a file until `secret` is set.', {
      default: false,
    }),
  },
  { description: 'How a sender that has no row of its own asks whether the address is yours.' },
)

const verify = keys(
  optional({
    provider: text('Whose signature it is: `github`, `slack`, … or `hmac` for any other.'),
    secret: textOrTexts('What it signs with, as displayed there; during rotation a list, the newest first.'),
    publicKey: textOrTexts('What it is verified with, where the sender keeps the secret.'),
    tolerance: duration('How far the time of a signature may lie from now. Default: as the provider says.', {
      maxMs: 86_400_000,
    }),
    publicUrl: text('The address that the provider calls, as it was given to it; for those that sign it.', {
      pattern: '^https?://[^\\s/?#]+',
      expects: 'an address such as https://hooks.example.com/hooks/twilio',
    }),
    verifyToken: text('The token that the provider shows when it checks the address; not the secret.'),
    audience: text('Google: whom its tokens are for. Default: `publicUrl`.'),
    serviceAccount: text('Google: the address of the account that pushes.', {
      pattern: '^[^\\s@]{1,256}@[^\\s@]{1,256}$',
      expects: 'the e-mail address of an account',
      hint: 'It looks like push@project.iam.gserviceaccount.com.',
    }),
    topicArns: texts(
      'AWS SNS: the topics that are believed.',
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
      description: 'AWS SNS: the only version that is believed. Default: both.',
    }),
    allowedOrigins: texts(
      'CloudEvents: who may ask to send.',
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
    every: duration('How often it is asked. At least 1m, and less than `lookBack`.', {
      default: '10m',
      maxMs: 86_400_000,
    }),
    lookBack: duration('How old what is caught up may be. Each provider has a maximum.', { default: '3d' }),
  },
  required: ['every', 'lookBack'],
  description:
    'Asks the provider, at the start and from time to time, for what it could not deliver. `reveille connect` writes it, with the keys of the provider.',
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
    concurrency: integer('Runs of this endpoint at one time.', { minimum: 1, maximum: 1000 }),
    timeoutSeconds: integer('Time for a run in seconds, where neither the request nor its mapping says.', {
      minimum: 1,
      maximum: 86_400,
    }),
    rate: keys(optional({ endpoint: rate('Of all clients together.'), client: rate('Of each client.') }), {
      minProperties: 1,
      description: 'How many requests are taken in a time; those above it are answered 429.',
    }),
    budget: dailyBudget('What its runs may cost in one day (UTC); those after that are parked.'),
    bots: texts('Actors whose requests are ignored: `dependabot[bot]`; `*` is a wildcard.', {
      minItems: 1,
    }),
    expectEvery: duration('An issue opens when no request arrives for this long.', {
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
