/** The schema of endpoint policies: every key's type, default and documentation. */

import { ratePattern } from '../rate.ts'
import { byName, dailyBudget, duration, keys, later, oneOf, text, textOrTexts } from './keywords.ts'
import { Type } from './type.ts'

const rate = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: ratePattern,
      expects: 'a number of requests and a duration, such as 600/1m',
      description,
    }),
  )

const header = (description: string) =>
  text({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", expects: 'the name of a header', description })

const hmac = keys(
  {
    header: header('Where the signature stands.'),
    algorithm: oneOf(['sha1', 'sha256', 'sha384', 'sha512'], {
      default: 'sha256',
      description: 'The digest.',
    }),
    encoding: oneOf(['hex', 'base64', 'base64url'], {
      default: 'hex',
      description: 'How the signature is written.',
    }),
    key: oneOf(['text', 'hex', 'base64'], {
      default: 'text',
      description: 'How the secret becomes the key: as it is, or decoded.',
    }),
    signed: text({
      default: '{body}',
      references: false,
      description:
        'What is signed: text, and in braces `body`, `timestamp`, `id`, `url` and `method`, such as `{timestamp}.{body}`.',
    }),
    prefix: Type.Optional(text({ description: 'What stands before the signature, such as `sha256=`.' })),
    divider: Type.Optional(
      Type.String({ minLength: 1, description: 'What stands between several signatures of one header.' }),
    ),
    element: Type.Optional(
      text({
        description: 'The header is a list such as `t=…,v1=…`, and the signature its element of this name.',
      }),
    ),
    timestampHeader: Type.Optional(header('Where the time of the signature stands.')),
    timestampElement: Type.Optional(
      text({ description: 'The element of the same header where the time of the signature stands.' }),
    ),
    timestampUnit: oneOf(['s', 'ms', 'rfc3339'], {
      default: 's',
      description:
        'How the time is written: seconds or milliseconds from 1970 on, or text such as `2026-01-15T12:00:00Z`.',
    }),
    idHeader: Type.Optional(header('Where the `{id}` that is signed stands.')),
    deliveryIdHeader: Type.Optional(
      header('Where the id of a delivery stands; the same when it is sent again.'),
    ),
  },
  { description: 'How a sender signs that `provider` has no name for.' },
)

const challenge = keys(
  {
    method: oneOf(['GET', 'HEAD', 'POST'], { default: 'GET', description: 'How the sender asks.' }),
    query: Type.Optional(text({ description: 'The parameter of the query that is to be echoed.' })),
    header: Type.Optional(header('The header that is to be echoed.')),
    body: Type.Optional(
      text({ description: 'The field of the JSON body that is to be echoed; of a signed POST.' }),
    ),
    answer: oneOf(['text', 'json', 'header'], {
      default: 'text',
      description: 'What it is answered as: plain text, JSON with one `field`, or the same header.',
    }),
    field: Type.Optional(
      text({ description: 'The field of the JSON that is answered. Default: the name of what is echoed.' }),
    ),
    hmac: Type.Boolean({
      default: false,
      description: 'Whether its digest is answered instead, made and written as `verify.hmac` says.',
    }),
    issuesSecret: Type.Boolean({
      default: false,
      description:
        'Whether it is the secret that the sender will sign with: answered until `secret` is set, and kept in a file.',
    }),
  },
  { description: 'How a sender that has no row of its own asks whether the address is yours.' },
)

const verify = keys(
  {
    provider: Type.Optional(
      text({ description: 'Whose signature it is: `github`, `stripe`, … or `hmac` for any other.' }),
    ),
    secret: Type.Optional(
      textOrTexts({
        minItems: 1,
        description:
          'What it signs with, as it shows it; a list, the newest first, while it is being rotated.',
      }),
    ),
    publicKey: Type.Optional(
      textOrTexts({
        minItems: 1,
        description: 'What it is verified with, where the sender keeps the secret.',
      }),
    ),
    tolerance: Type.Optional(
      duration({
        atMostMs: 86_400_000,
        description: 'How far the time of a signature may lie from now. Default: as the provider says.',
      }),
    ),
    publicUrl: Type.Optional(
      text({
        pattern: '^https?://[^\\s/?#]+',
        expects: 'an address such as https://hooks.example.com/hooks/twilio',
        description: 'The address that the provider calls, as it was given to it; for those that sign it.',
      }),
    ),
    verifyToken: Type.Optional(
      text({
        description: 'What the provider shows when it asks whether somebody is there; not the secret.',
      }),
    ),
    audience: Type.Optional(text({ description: 'Google: whom its tokens are for. Default: `publicUrl`.' })),
    serviceAccount: Type.Optional(text({ description: 'Google: the address of the account that pushes.' })),
    topicArns: Type.Optional(
      Type.Array(text(), { minItems: 1, description: 'AWS SNS: the topics that are believed.' }),
    ),
    signatureVersion: Type.Optional(
      Type.Unsafe<1 | 2>({
        type: 'integer',
        enum: [1, 2],
        description: 'AWS SNS: the only version that is believed. Default: both.',
      }),
    ),
    allowedOrigins: Type.Optional(
      Type.Array(text(), { minItems: 1, description: 'CloudEvents: who may ask to send.' }),
    ),
    hmac: Type.Optional(hmac),
    challenge: Type.Optional(challenge),
  },
  { minProperties: 1, description: "The provider's signature." },
)

const endpointPolicySchema = keys({
  maxBodyBytes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 104_857_600, description: 'Instead of `hooks.maxBodyBytes`.' }),
  ),
  maxActions: Type.Optional(Type.Integer({ minimum: 1, description: 'Instead of `hooks.maxActions`.' })),
  maxRenderedBytes: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Instead of `hooks.maxRenderedBytes`.' }),
  ),
  auth: Type.Optional(
    oneOf(['token', 'signature', 'both', 'none'], {
      description:
        'What a sender must show. Default: `signature` where `verify` has a secret, else `token`. `none` only on loopback.',
    }),
  ),
  token: Type.Optional(
    textOrTexts({
      minItems: 1,
      description:
        'A token that opens this endpoint alone, beside `hooks.token`; a list while it is being rotated.',
    }),
  ),
  verify: Type.Optional(verify),
  concurrency: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Runs of this endpoint at one time.' }),
  ),
  timeoutSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 86_400,
      description: 'Time for a run in seconds, where neither the request nor its mapping says.',
    }),
  ),
  rate: Type.Optional(
    keys(
      {
        endpoint: rate('Of all clients together.'),
        client: rate('Of each client.'),
      },
      {
        minProperties: 1,
        description: 'How many requests are taken in a time; those above it are answered 429.',
      },
    ),
  ),
  budget: Type.Optional(dailyBudget('What its runs may cost in one day (UTC); those after that are parked.')),
  bots: Type.Optional(
    Type.Array(text(), {
      minItems: 1,
      description: 'Actors whose requests are ignored: `dependabot[bot]`; `*` stands for anything.',
    }),
  ),
  expectEvery: later('Silence after which the endpoint counts as broken.'),
})

export const endpointPolicies = byName(endpointPolicySchema, {
  default: {},
  description: 'Policies by endpoint name, as the text of `match.path`.',
})
