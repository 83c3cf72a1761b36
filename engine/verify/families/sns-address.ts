/** Owns which addresses are those of SNS: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html */

/**
 * Of a region of AWS, of China too: `us-gov-west-1`. What is none may be anybody's: `sns.s3.amazonaws.com` and
 * `sns.s3-us-west-2.amazonaws.com` are a bucket by the name of `sns`.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html#VirtualHostingBackwardsCompatibility
 */
const host = /^sns\.[a-z]{2,8}(-[a-z]{2,12}){1,2}-\d{1,2}\.amazonaws\.com(\.cn)?$/
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
