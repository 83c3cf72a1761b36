/** Tests the pitfalls of each sender's signatures, with our own bodies and digests that are made independently. */

import assert from 'node:assert/strict'
import { generateKeyPairSync, hash, sign } from 'node:crypto'
import { test } from 'node:test'
import { digest, judge, now, type Sent, seconds, verifyBy } from './signing-fixture.ts'

const secret = 'a secret of the tests'
/** A body that changes when it is parsed and written again: escapes, trailing white space, letters beyond ASCII. */
const body = '{"name":"Zażółć \\u00e9 \\/ 🚀", "id": 820982911946154508}\n'
const form = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }

/** Signs the body alone, in one header. */
function plain(provider: string, header: string, value: string, more: Sent = {}) {
  return judge({ provider, secret }, { body, ...more, headers: { [header]: value, ...more.headers } })
}

test('GitHub: SHA-1 is never accepted in place of SHA-256', async () => {
  const sha1 = `sha1=${digest(body, secret, 'sha1')}`
  assert.equal(await plain('github', 'x-hub-signature', sha1), 'SIGNATURE_WEAKER')
  assert.equal(await plain('github', 'x-hub-signature-256', sha1), 'SIGNATURE_MALFORMED')
  const wrong = { headers: { 'x-hub-signature': sha1 }, body }
  assert.equal(
    await plain('github', 'x-hub-signature-256', `sha256=${digest(body, 'other')}`, wrong),
    'SIGNATURE_MISMATCH',
  )
})

test('GitHub: a form is signed as it was encoded, with the JSON inside', async () => {
  const encoded = new URLSearchParams({ payload: body }).toString()
  const sent = { body: encoded, headers: form }
  assert.equal(
    await plain('github', 'x-hub-signature-256', `sha256=${digest(encoded, secret)}`, sent),
    'good',
  )
  assert.equal(
    await plain('github', 'x-hub-signature-256', `sha256=${digest(body, secret)}`, sent),
    'SIGNATURE_MISMATCH',
  )
})

test('bodies are bytes: a body that is not text is digested as it came', async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a])
  const policy = { provider: 'github', secret }
  const headers = { 'x-hub-signature-256': `sha256=${digest(bytes, secret)}` }
  assert.equal(await judge(policy, { body: bytes, headers }), 'good')
  assert.equal(await judge(policy, { body: bytes.toString(), headers }), 'SIGNATURE_MISMATCH')
})

const stripe = (text: string, version = 'v1', time = seconds, key = secret) =>
  `t=${time},${version}=${digest(`${time}.${text}`, key)}`

test('Stripe: the key is the whole secret, although it looks like base64', async () => {
  const whsec = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
  const decoded = Buffer.from(whsec.slice(6), 'base64')
  const policy = { provider: 'stripe', secret: whsec }
  const header = stripe(body, 'v1', seconds, whsec)
  assert.equal(await judge(policy, { body, headers: { 'stripe-signature': header } }), 'good')
  const other = `t=${seconds},v1=${digest(`${seconds}.${body}`, decoded)}`
  assert.equal(await judge(policy, { body, headers: { 'stripe-signature': other } }), 'SIGNATURE_MISMATCH')
})

test('Stripe: only v1 counts, wherever it stands among others', async () => {
  assert.equal(await plain('stripe', 'stripe-signature', stripe(body, 'v0')), 'SIGNATURE_MALFORMED')
  const both = `${stripe(body, 'v0')}, v1=${'0'.repeat(64)} , v1=${digest(`${seconds}.${body}`, secret)}`
  assert.equal(await plain('stripe', 'stripe-signature', both), 'good')
})

test('Stripe: the time is checked in both directions, after the signature', async () => {
  const at = (time: number) => ({ body, headers: { 'stripe-signature': stripe(body, 'v1', time) } })
  const policy = { provider: 'stripe', secret }
  for (const time of [seconds - 300, seconds + 300]) assert.equal(await judge(policy, at(time)), 'good')
  assert.deepEqual(await verifyBy(policy, at(seconds - 301)), {
    ok: false,
    code: 'TIMESTAMP_OUTSIDE',
    skewSeconds: -301,
  })
  assert.deepEqual(await verifyBy(policy, at(seconds + 3600)), {
    ok: false,
    code: 'TIMESTAMP_OUTSIDE',
    skewSeconds: 3600,
  })
  const wrong = { body: `${body} `, headers: at(seconds - 301).headers }
  assert.equal(await judge(policy, wrong), 'SIGNATURE_MISMATCH')
  // 300.9 s have passed, and 300 in the whole seconds that the sender counts.
  assert.equal(await judge(policy, { ...at(seconds - 300), now: now + 900 }), 'good')
  assert.equal(await judge({ ...policy, tolerance: '1h' }, at(seconds - 3600)), 'good')
  assert.equal(await judge({ ...policy, tolerance: '10s' }, at(seconds - 11)), 'TIMESTAMP_OUTSIDE')
})

function slack(text: string, time: string | number = seconds): Sent {
  const signature = `v0=${digest(`v0:${time}:${text}`, secret)}`
  const headers = { 'x-slack-signature': signature, 'x-slack-request-timestamp': String(time) }
  return { body: text, headers }
}

test('Slack: a time that is not a number is refused, although it is signed', async () => {
  for (const time of [
    'soon',
    '',
    'NaN',
    `${seconds}.0`,
    `+${seconds}`,
    '1e9',
    ` ${seconds}x`,
    '9'.repeat(400),
  ]) {
    const code = time === '' ? 'TIMESTAMP_MISSING' : 'TIMESTAMP_MALFORMED'
    assert.equal(await judge({ provider: 'slack', secret }, slack(body, time)), code, time)
  }
  assert.equal(await judge({ provider: 'slack', secret }, slack(body, seconds + 3600)), 'TIMESTAMP_OUTSIDE')
})

test('Slack: a form is signed as it was encoded, and the token in the body proves nothing', async () => {
  const command = 'token=deprecated&command=%2Fdeploy&text=now+please'
  const sent = { ...slack(command), headers: { ...slack(command).headers, ...form } }
  assert.equal(await judge({ provider: 'slack', secret }, sent), 'good')
  const again = { ...sent, body: command.replaceAll('+', '%20') }
  assert.equal(await judge({ provider: 'slack', secret }, again), 'SIGNATURE_MISMATCH')
  assert.equal(
    await judge({ provider: 'slack', secret: 'deprecated' }, { body: command }),
    'SIGNATURE_MISSING',
  )
})

const raw = Buffer.from('0123456789abcdef0123456789abcdef')
const whsec = `whsec_${raw.toString('base64')}`

function standard(names: 'webhook' | 'svix' = 'webhook', id = 'msg_1', signatures?: string): Sent {
  const signature = `v1,${digest(`${id}.${seconds}.${body}`, raw, 'sha256', 'base64')}`
  const headers = {
    [`${names}-id`]: id,
    [`${names}-timestamp`]: String(seconds),
    [`${names}-signature`]: signatures ?? signature,
  }
  return { body, headers }
}

test('Standard Webhooks: spaces divide signatures, and the id is signed with the rest', async () => {
  const policy = { provider: 'standard-webhooks', secret: whsec }
  const { headers = {} } = standard()
  const good = String(headers['webhook-signature'])
  assert.equal(await judge(policy, standard('webhook', 'msg_1', `v2,x v1,bad v1a,AAAA ${good}`)), 'good')
  assert.equal(
    await judge(policy, { body, headers: { ...headers, 'webhook-id': 'msg_2' } }),
    'SIGNATURE_MISMATCH',
  )
  assert.equal(
    await judge(policy, standard('webhook', 'msg_1', good.replace('v1,', 'v2,'))),
    'SIGNATURE_MALFORMED',
  )
  assert.equal(
    await judge(policy, { body, headers: { ...headers, 'webhook-id': '' } }),
    'SIGNATURE_MALFORMED',
  )
})

test('Standard Webhooks: a secret is base64, with or without its prefix and padding, and its text is not the key', async () => {
  for (const each of [whsec, whsec.slice(6), whsec.replace(/=+$/, '')]) {
    assert.equal(await judge({ provider: 'standard-webhooks', secret: each }, standard()), 'good', each)
  }
  const byText = digest(`msg_1.${seconds}.${body}`, whsec, 'sha256', 'base64')
  assert.equal(
    await judge(
      { provider: 'standard-webhooks', secret: whsec },
      standard('webhook', 'msg_1', `v1,${byText}`),
    ),
    'SIGNATURE_MISMATCH',
  )
})

test('Standard Webhooks: with a secret and a key, a signature that matches either is enough, and a key alone accepts no digest', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const bytes = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const key = `whpk_${bytes.toString('base64')}`
  const asymmetric = `v1a,${sign(null, Buffer.from(`msg_1.${seconds}.${body}`), privateKey).toString('base64')}`
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`
  const both = { provider: 'standard-webhooks', secret: whsec, publicKey: key }
  assert.equal(await judge(both, standard()), 'good')
  assert.equal(await judge(both, standard('webhook', 'msg_1', asymmetric)), 'good')
  assert.equal(await judge(both, standard('webhook', 'msg_1', `${wrong} ${asymmetric}`)), 'good')
  assert.equal(await judge(both, standard('webhook', 'msg_1', wrong)), 'SIGNATURE_MISMATCH')
  const alone = { provider: 'standard-webhooks', publicKey: key }
  assert.equal(await judge(alone, standard()), 'SIGNATURE_MALFORMED')
  // A public key is known to everyone, so a digest that is made with it proves nothing.
  const forged = `v1,${digest(`msg_1.${seconds}.${body}`, bytes, 'sha256', 'base64')}`
  assert.equal(await judge(alone, standard('webhook', 'msg_1', forged)), 'SIGNATURE_MALFORMED')
})

test('Svix, Resend and OpenAI sign by the same specification, and the first two use header names of their own as well', async () => {
  for (const provider of ['svix', 'resend']) {
    assert.equal(await judge({ provider, secret: whsec }, standard('svix')), 'good')
    assert.equal(await judge({ provider, secret: whsec }, standard('webhook')), 'good')
  }
  assert.equal(await judge({ provider: 'openai', secret: whsec }, standard('webhook')), 'good')
  assert.equal(await judge({ provider: 'openai', secret: whsec }, standard('svix')), 'SIGNATURE_MISSING')
})

test('an empty key is never accepted: a secret that decodes to no bytes matches no signature', async () => {
  const forged = `v1,${digest(`msg_1.${seconds}.${body}`, '', 'sha256', 'base64')}`
  for (const each of ['whsec_', 'whsec_====', 'whsec_no base64 at all']) {
    const policy = { provider: 'standard-webhooks', secret: each }
    assert.equal(await judge(policy, standard('webhook', 'msg_1', forged)), 'SIGNATURE_MISMATCH', each)
  }
})

test('Shopify: escaped slashes and long numbers are signed as they came, under either name of the header', async () => {
  const signature = digest(body, secret, 'sha256', 'base64')
  assert.equal(await plain('shopify', 'x-shopify-hmac-sha256', signature), 'good')
  assert.equal(await plain('shopify', 'shopify-hmac-sha256', signature), 'good')
  const again = { body: JSON.stringify(JSON.parse(body)) }
  assert.equal(await plain('shopify', 'x-shopify-hmac-sha256', signature, again), 'SIGNATURE_MISMATCH')
})

test('GitLab: the form of the secret shows its kind, and a signing token is never accepted as a plain token', async () => {
  const token = { 'x-gitlab-token': secret }
  assert.equal(await judge({ provider: 'gitlab', secret }, { body, headers: token }), 'good')
  assert.equal(await judge({ provider: 'gitlab', secret: whsec }, standard()), 'good')
  assert.equal(await judge({ provider: 'gitlab', secret: whsec }, { headers: token }), 'SIGNATURE_WEAKER')
  assert.equal(
    await judge({ provider: 'gitlab', secret: whsec }, { headers: { 'x-gitlab-token': whsec } }),
    'SIGNATURE_WEAKER',
  )
})

test('GitLab: with secrets of both forms, a signature that is present has to be right', async () => {
  const policy = { provider: 'gitlab', secret: [whsec, secret] }
  const token = { 'x-gitlab-token': secret }
  assert.equal(await judge(policy, { body, headers: { ...standard().headers, ...token } }), 'good')
  const wrong = {
    ...standard('webhook', 'msg_1', `v1,${Buffer.alloc(32).toString('base64')}`).headers,
    ...token,
  }
  assert.equal(await judge(policy, { body, headers: wrong }), 'SIGNATURE_MISMATCH')
  assert.deepEqual(await verifyBy(policy, { body, headers: token }), {
    ok: true,
    scheme: 'token',
    secret: 1,
  })
})

test('Linear: the time in the signed body counts, and not the one in a header', async () => {
  const at = (time: unknown) => `{"action":"create","webhookTimestamp":${JSON.stringify(time)}}`
  const sent = (text: string, header: number): Sent => ({
    body: text,
    headers: { 'linear-signature': digest(text, secret), 'linear-timestamp': String(header) },
  })
  const policy = { provider: 'linear', secret }
  assert.equal(await judge(policy, sent(at(now - 60_000), now - 3_600_000)), 'good')
  assert.equal(await judge(policy, sent(at(now - 60_001), now)), 'TIMESTAMP_OUTSIDE')
  assert.equal(await judge(policy, sent('{}', now)), 'TIMESTAMP_MISSING')
  assert.equal(await judge(policy, sent('no JSON', now)), 'BODY_MALFORMED')
  for (const time of [1.5, -1, 1e300, true, {}, 'x']) {
    assert.equal(await judge(policy, sent(at(time), now)), 'TIMESTAMP_MALFORMED', String(time))
  }
  const long = `{"text":"${'x'.repeat(100_000)}","webhookTimestamp":${now}}`
  assert.equal(await judge(policy, sent(long, now)), 'good')
})

test('Sentry: the secret is a text although it looks like hex, and a time that is not signed is not checked', async () => {
  const hex = 'ab'.repeat(32)
  const headers = { 'sentry-hook-signature': digest(body, hex), 'sentry-hook-timestamp': '1' }
  assert.equal(await judge({ provider: 'sentry', secret: hex }, { body, headers }), 'good')
  assert.equal(await judge({ provider: 'sentry', secret: hex, tolerance: '1m' }, { body, headers }), 'good')
})

test('Sentry: the header of UI components counts only where it is configured', async () => {
  const headers = { 'sentry-app-signature': digest(body, secret) }
  assert.equal(await judge({ provider: 'sentry', secret }, { body, headers }), 'SIGNATURE_MISSING')
  const hmac = {
    header: 'Sentry-App-Signature',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    signed: '{body}',
    timestampUnit: 's',
  } as const
  assert.equal(await judge({ provider: 'hmac', secret, hmac }, { body, headers }), 'good')
})

test('PagerDuty: one of several signatures matches, whatever the spaces and the case', async () => {
  const good = digest(body, secret)
  const zeros = '0'.repeat(64)
  for (const value of [
    `v1=${zeros},v1=${good}`,
    `v1=${zeros}, v1=${good.toUpperCase()}`,
    `v2=x,v1=${good}`,
  ]) {
    assert.equal(await plain('pagerduty', 'x-pagerduty-signature', value), 'good', value)
  }
  assert.equal(await plain('pagerduty', 'x-pagerduty-signature', `v2=${good}`), 'SIGNATURE_MALFORMED')
})

test('of a list that is longer than any sender makes it, only the beginning is read', async () => {
  const zeros = `v1=${'0'.repeat(64)},`
  const last = (count: number) => `${zeros.repeat(count)}v1=${digest(body, secret)}`
  assert.equal(await plain('pagerduty', 'x-pagerduty-signature', last(99)), 'good')
  assert.equal(await plain('pagerduty', 'x-pagerduty-signature', last(5000)), 'SIGNATURE_MISMATCH')
})

const twilioUrl = 'https://hooks.example.com/hooks/twilio'
const fields = 'Body=a+b%2B1&From=%2B49&Media=2&Media=1&Media=2&A='
const twilioSigned = 'ABodya b+1From+49Media1Media2'

function twilio(signed: string, more: Sent = {}, publicUrl = twilioUrl) {
  const headers = { 'x-twilio-signature': digest(signed, secret, 'sha1', 'base64'), ...form, ...more.headers }
  const sent = { target: '/hooks/twilio', body: fields, ...more, headers }
  return judge({ provider: 'twilio', secret, publicUrl }, sent)
}

test('Twilio: fields are decoded, sorted, and each distinct value is signed once', async () => {
  assert.equal(await twilio(twilioUrl + twilioSigned), 'good')
  assert.equal(await twilio(`${twilioUrl}${fields}`), 'SIGNATURE_MISMATCH')
  assert.equal(await twilio(twilioUrl + twilioSigned, { body: `${fields}&More=1` }), 'SIGNATURE_MISMATCH')
})

test('Twilio: SHA-256 is not accepted', async () => {
  const longer = digest(twilioUrl + twilioSigned, secret, 'sha256', 'base64')
  assert.equal(await twilio('', { headers: { 'x-twilio-signature': longer } }), 'SIGNATURE_MALFORMED')
})

test('Twilio: the address is the configured one, with or without its port, whatever headers say', async () => {
  const withPort = 'https://hooks.example.com:443/hooks/twilio'
  for (const [signed, configured] of [
    [withPort, twilioUrl],
    [twilioUrl, withPort],
    [twilioUrl, `${twilioUrl}#rc=2`],
  ] as const) {
    assert.equal(await twilio(signed + twilioSigned, {}, configured), 'good', configured)
  }
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
  const guessed = `https://evil.example/hooks/twilio${twilioSigned}`
  assert.equal(await twilio(guessed, { headers }), 'SIGNATURE_MISMATCH')
  assert.equal(await twilio(`http://hooks.example.com/hooks/twilio${twilioSigned}`), 'SIGNATURE_MISMATCH')
})

test('Twilio: JSON is covered by its digest in the query, or not at all', async () => {
  const json = { 'content-type': 'application/json' }
  const query = `?bodySHA256=${hash('sha256', body)}`
  const sent = { target: `/hooks/twilio${query}`, body, headers: json }
  assert.equal(await twilio(twilioUrl + query, sent), 'good')
  assert.equal(await twilio(twilioUrl + query, { ...sent, body: `${body} ` }), 'SIGNATURE_MISMATCH')
  assert.equal(await twilio(twilioUrl, { body, headers: json }), 'BODY_NOT_COVERED')
  assert.equal(await twilio(twilioUrl, { body, headers: { 'content-type': undefined } }), 'BODY_NOT_COVERED')
})

test('Twilio: JSON that is labelled as a form is not covered as one', async () => {
  assert.equal(await twilio(`${twilioUrl}{"a":"b"}`, { body: '{"a":"b"}' }), 'BODY_NOT_COVERED')
})

test('without the configured address, a signature that covers it is refused, and the reason names what is missing', async () => {
  const headers = {
    'x-square-hmacsha256-signature': digest(body, secret, 'sha256', 'base64'),
    host: 'a.example',
  }
  const result = await verifyBy({ provider: 'square', secret }, { body, headers })
  assert.match((!result.ok && result.reason) || '', /verify\.publicUrl/)
})

test('Zoom: the time is signed, and the former token proves nothing', async () => {
  const signature = `v0=${digest(`v0:${seconds}:${body}`, secret)}`
  const headers = { 'x-zm-signature': signature, 'x-zm-request-timestamp': String(seconds) }
  assert.equal(await judge({ provider: 'zoom', secret }, { body, headers }), 'good')
  const later = { ...headers, 'x-zm-request-timestamp': String(seconds + 1) }
  assert.equal(await judge({ provider: 'zoom', secret }, { body, headers: later }), 'SIGNATURE_MISMATCH')
  assert.equal(
    await judge({ provider: 'zoom', secret }, { headers: { authorization: secret } }),
    'SIGNATURE_MISSING',
  )
})

test('Paddle: elements are divided by semicolons, the signed text is joined by a colon, any of several digests may match, and the tolerance of five seconds can be raised', async () => {
  const made = (time: number, joint = ':') => digest(`${time}${joint}${body}`, secret)
  const header = (time: number, ...digests: string[]) =>
    [`ts=${time}`, ...digests.map((each) => `h1=${each}`)].join(';')
  const zeros = '0'.repeat(64)
  assert.equal(await plain('paddle', 'paddle-signature', header(seconds, made(seconds), zeros)), 'good')
  assert.equal(await plain('paddle', 'paddle-signature', header(seconds, zeros, made(seconds))), 'good')
  assert.equal(
    await plain('paddle', 'paddle-signature', header(seconds, made(seconds, '.'))),
    'SIGNATURE_MISMATCH',
  )
  const late = header(seconds - 10, made(seconds - 10))
  assert.equal(await plain('paddle', 'paddle-signature', late), 'TIMESTAMP_OUTSIDE')
  const sent = { body, headers: { 'paddle-signature': late } }
  assert.equal(await judge({ provider: 'paddle', secret, tolerance: '10s' }, sent), 'good')
})

test('Intercom: it signs with SHA-1, and the header cannot choose another hash', async () => {
  assert.equal(await plain('intercom', 'x-hub-signature', `sha1=${digest(body, secret, 'sha1')}`), 'good')
  assert.equal(
    await plain('intercom', 'x-hub-signature', `sha256=${digest(body, secret)}`),
    'SIGNATURE_MALFORMED',
  )
})

test('Bitbucket and Jira: the header of that name holds SHA-256, and no weaker hash is accepted', async () => {
  for (const provider of ['bitbucket', 'jira']) {
    assert.equal(await plain(provider, 'x-hub-signature', `sha256=${digest(body, secret)}`), 'good')
    const sha1 = `sha1=${digest(body, secret, 'sha1')}`
    assert.equal(await plain(provider, 'x-hub-signature', sha1), 'SIGNATURE_MALFORMED')
    assert.equal(
      await plain(provider, 'x-hub-signature-256', `sha256=${digest(body, secret)}`),
      'SIGNATURE_MISSING',
    )
  }
})

test('Typeform: base64 follows the prefix, with its equals signs', async () => {
  const signature = digest(body, secret, 'sha256', 'base64')
  assert.ok(signature.endsWith('='))
  assert.equal(await plain('typeform', 'typeform-signature', `sha256=${signature}`), 'good')
  assert.equal(
    await plain('typeform', 'typeform-signature', `sha256=${digest(body, secret)}`),
    'SIGNATURE_MALFORMED',
  )
})

test('Calendly: the tolerance is three minutes, not five', async () => {
  assert.equal(
    await plain('calendly', 'calendly-webhook-signature', stripe(body, 'v1', seconds - 180)),
    'good',
  )
  assert.equal(
    await plain('calendly', 'calendly-webhook-signature', stripe(body, 'v1', seconds - 181)),
    'TIMESTAMP_OUTSIDE',
  )
})

test('Square: the address is signed byte for byte, and the older header never counts', async () => {
  const url = 'https://hooks.example.com/hooks/square?shop=1'
  const square = (signed: string, target: string) =>
    judge(
      { provider: 'square', secret, publicUrl: url },
      {
        target,
        body,
        headers: { 'x-square-hmacsha256-signature': digest(signed, secret, 'sha256', 'base64') },
      },
    )
  assert.equal(await square(url + body, '/hooks/square?shop=1'), 'good')
  assert.equal(await square(url + body, '/hooks/square?shop=2'), 'SIGNATURE_MISMATCH')
  assert.equal(await square(body, '/hooks/square?shop=1'), 'SIGNATURE_MISMATCH')
  const older = { 'x-square-signature': digest(url + body, secret, 'sha1', 'base64') }
  const policy = { provider: 'square', secret, publicUrl: url }
  assert.equal(await judge(policy, { body, headers: older }), 'SIGNATURE_WEAKER')
})

test('HubSpot: the time is in milliseconds, some escapes are decoded or none, and no older version is accepted', async () => {
  const publicUrl = 'https://hooks.example.com/hooks/hubspot'
  const hubspot = (url: string, time: number, target: string, method = 'POST') => {
    const signature = digest(`${method}${url}${body}${time}`, secret, 'sha256', 'base64')
    const headers = { 'x-hubspot-signature-v3': signature, 'x-hubspot-request-timestamp': String(time) }
    return judge({ provider: 'hubspot', secret, publicUrl }, { target, body, headers })
  }
  const target = '/hooks/hubspot?to=a%40b&path=%2fx&q=a%20b'
  for (const url of [`${publicUrl}?to=a@b&path=/x&q=a%20b`, `${publicUrl}?to=a%40b&path=%2fx&q=a%20b`]) {
    assert.equal(await hubspot(url, now, target), 'good', url)
  }
  assert.equal(await hubspot(publicUrl, now - 300_000, '/hooks/hubspot'), 'good')
  assert.equal(await hubspot(publicUrl, now - 300_001, '/hooks/hubspot'), 'TIMESTAMP_OUTSIDE')
  assert.equal(await hubspot(publicUrl, now + 3_600_000, '/hooks/hubspot'), 'TIMESTAMP_OUTSIDE')
  assert.equal(await hubspot(publicUrl, seconds, '/hooks/hubspot'), 'TIMESTAMP_OUTSIDE')
  assert.equal(await hubspot(publicUrl, now, '/hooks/hubspot', 'GET'), 'SIGNATURE_MISMATCH')
  const older = { 'x-hubspot-signature': hash('sha256', secret + body), 'x-hubspot-signature-version': 'v1' }
  assert.equal(
    await judge({ provider: 'hubspot', secret, publicUrl }, { body, headers: older }),
    'SIGNATURE_WEAKER',
  )
})

test('Mailgun: the signature is in the body, JSON or form, and covers time and token alone', async () => {
  const token = 'f00d'
  const signature = digest(`${seconds}${token}`, secret)
  const event = (more: object, data = 'delivered') =>
    JSON.stringify({
      signature: { timestamp: String(seconds), token, signature, ...more },
      'event-data': { data },
    })
  const policy = { provider: 'mailgun', secret }
  assert.equal(await judge(policy, { body: event({}) }), 'good')
  assert.equal(await judge(policy, { body: event({}, 'anything else') }), 'good')
  assert.equal(await judge(policy, { body: event({ token: 'beef' }) }), 'SIGNATURE_MISMATCH')
  assert.equal(await judge(policy, { body: event({ timestamp: '1' }) }), 'SIGNATURE_MISMATCH')
  assert.equal(await judge(policy, { body: event({ signature: [signature] }) }), 'SIGNATURE_MALFORMED')
  assert.equal(await judge(policy, { body: '{}' }), 'SIGNATURE_MISSING')
  assert.equal(await judge(policy, { body: '<xml/>' }), 'BODY_MALFORMED')
  const inbound = new URLSearchParams({
    timestamp: String(seconds),
    token,
    signature,
    subject: 'ä b',
  }).toString()
  assert.equal(await judge(policy, { body: inbound, headers: form }), 'good')
  assert.equal(await judge(policy, { body: inbound, headers: form, now: now + 301_000 }), 'TIMESTAMP_OUTSIDE')
  const crowded = `${inbound}&${'a=1&'.repeat(2000)}`
  assert.equal(await judge(policy, { body: crowded, headers: form }), 'BODY_MALFORMED')
})

test('a compressed body is refused if the signed values are inside of it, because mappings would not see what was verified', async () => {
  const packed = { 'content-encoding': 'br' }
  const signature = digest(`${seconds}f00d`, secret)
  const body = JSON.stringify({ signature: { timestamp: String(seconds), token: 'f00d', signature } })
  assert.equal(await judge({ provider: 'mailgun', secret }, { body, headers: packed }), 'BODY_NOT_COVERED')
  assert.equal(await twilio(twilioUrl + twilioSigned, { headers: packed }), 'BODY_NOT_COVERED')
  assert.equal(
    await twilio(twilioUrl + twilioSigned, { headers: { 'content-encoding': 'identity' } }),
    'good',
  )
  const query = `?bodySHA256=${hash('sha256', body)}`
  const sent = { target: `/hooks/twilio${query}`, body, headers: packed }
  assert.equal(await twilio(twilioUrl + query, sent), 'good', 'the digest is of the bytes as they came')
})

test('an id cannot absorb the time and the beginning of the body', async () => {
  const policy = { provider: 'svix', secret: `whsec_${Buffer.from('key').toString('base64')}` }
  const evil = 'x=1&payload={"evil":true}&y='
  // The body may quote, for example, a comment that a stranger wrote.
  const comment = `hi.${seconds}.${evil}`
  const genuine = `{"comment":"${comment}"}`
  const sign = (signed: string) => `v1,${digest(signed, 'key', 'sha256', 'base64')}`
  const captured = sign(`msg_1.${seconds}.${genuine}`)
  const headers = { 'svix-id': 'msg_1', 'svix-timestamp': String(seconds), 'svix-signature': captured }
  assert.equal(await judge(policy, { headers, body: genuine }), 'good')
  const shifted = { ...headers, 'svix-id': `msg_1.${seconds}.{"comment":"hi` }
  assert.equal(await judge(policy, { headers: shifted, body: `${evil}"}` }), 'SIGNATURE_MALFORMED')
  const dotted = { ...headers, 'svix-id': 'a.b.1', 'svix-signature': sign(`a.b.1.${seconds}.${genuine}`) }
  assert.equal(await judge(policy, { headers: dotted, body: genuine }), 'good', 'ids may hold dots')
})

test('DocuSign: every numbered header counts, for XML as for JSON, and the key is a text', async () => {
  const key = 'ibFTzDfPXJ2EuqNHj31C155COVwaB1UZy0FsF4Rw7mE='
  const xml = '<?xml version="1.0"?><DocuSignEnvelopeInformation/>'
  const good = digest(xml, key, 'sha256', 'base64')
  const policy = { provider: 'docusign', secret: key }
  const first = { 'x-docusign-signature-1': digest(xml, 'other', 'sha256', 'base64') }
  for (const number of [2, 17, 100]) {
    const headers = { ...first, [`x-docusign-signature-${number}`]: good }
    assert.equal(await judge(policy, { body: xml, headers }), 'good', String(number))
  }
  const decoded = digest(xml, Buffer.from(key, 'base64'), 'sha256', 'base64')
  assert.equal(
    await judge(policy, { body: xml, headers: { 'x-docusign-signature-1': decoded } }),
    'SIGNATURE_MISMATCH',
  )
  const algorithm = { 'x-authorization-digest': 'HMACSHA256' }
  assert.equal(await judge(policy, { body: xml, headers: algorithm }), 'SIGNATURE_MISSING')
})

test('Meta: escapes are signed as they came, with the secret of the app and never with the verify token', async () => {
  const policy = { provider: 'meta', secret, verifyToken: 'shown in a query' }
  const header = (key: string) => ({ 'x-hub-signature-256': `sha256=${digest(body, key)}` })
  assert.equal(await judge(policy, { body, headers: header(secret) }), 'good')
  const again = JSON.stringify(JSON.parse(body))
  assert.equal(await judge(policy, { body: again, headers: header(secret) }), 'SIGNATURE_MISMATCH')
  assert.equal(await judge(policy, { body, headers: header('shown in a query') }), 'SIGNATURE_MISMATCH')
  const sha1 = { 'x-hub-signature': `sha1=${digest(body, secret, 'sha1')}` }
  assert.equal(await judge(policy, { body, headers: sha1 }), 'SIGNATURE_WEAKER')
})

test('Telegram: the secret is compared as a whole', async () => {
  assert.equal(await plain('telegram', 'x-telegram-bot-api-secret-token', secret), 'good')
  for (const given of [secret.slice(1), `${secret}x`, secret.toUpperCase()]) {
    assert.equal(await plain('telegram', 'x-telegram-bot-api-secret-token', given), 'SIGNATURE_MISMATCH')
  }
})

test('Vercel, ElevenLabs, Notion and Grafana sign as their guides describe', async () => {
  assert.equal(await plain('vercel', 'x-vercel-signature', digest(body, secret, 'sha1')), 'good')
  assert.equal(await plain('elevenlabs', 'elevenlabs-signature', stripe(body, 'v0', seconds - 1800)), 'good')
  assert.equal(
    await plain('elevenlabs', 'elevenlabs-signature', stripe(body, 'v0', seconds - 1801)),
    'TIMESTAMP_OUTSIDE',
  )
  assert.equal(await plain('notion', 'x-notion-signature', `sha256=${digest(body, secret)}`), 'good')
  assert.equal(await plain('grafana', 'x-grafana-alerting-signature', digest(body, secret)), 'good')
})
