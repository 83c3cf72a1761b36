/** Recognises the addresses of SNS: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html */

/**
 * The host of SNS in a region of AWS, China included: `us-gov-west-1`. A host without a region may be anybody's:
 * `sns.s3.amazonaws.com` and `sns.s3-us-west-2.amazonaws.com` are a bucket by the name of `sns`.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html#VirtualHostingBackwardsCompatibility
 */
const host = /^sns\.[a-z]{2,8}(-[a-z]{2,12}){1,2}-\d{1,2}\.amazonaws\.com(\.cn)?$/
const maxLength = 4096

/**
 * Returns the URL where it is one of SNS. The parser must write it back exactly as it came, so that no credentials, port,
 * fragment, escape or other spelling can lead the next reader elsewhere.
 */
export function parseSnsAddress(address: unknown): URL | undefined {
  if (typeof address !== 'string' || address.length > maxLength) return undefined
  const url = URL.parse(address)
  const isOfSns =
    url?.protocol === 'https:' &&
    host.test(url.host) &&
    url.username === '' &&
    url.password === '' &&
    url.hash === '' &&
    url.href === address
  return isOfSns ? url : undefined
}
