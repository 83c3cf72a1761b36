/** Owns which addresses are those of SNS: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html */

/** One of a region of AWS, of China too. */
const host = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?$/
const longest = 4096

/**
 * The address, if it is one; a parser has to find in it exactly what is written, so that no credentials, port,
 * fragment, escape or other spelling makes it lead elsewhere for whoever reads it next.
 */
export function parseSnsAddress(address: unknown): URL | undefined {
  if (typeof address !== 'string' || address.length > longest) return undefined
  const url = URL.parse(address)
  const isOne =
    url?.protocol === 'https:' &&
    host.test(url.host) &&
    url.username === '' &&
    url.password === '' &&
    url.hash === '' &&
    url.href === address
  return isOne ? url : undefined
}
