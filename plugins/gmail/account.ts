/** Decides whether two addresses mean one mailbox. */

/** Gmail overlooks dots and knows two names of its domain. https://support.google.com/mail/answer/7436150 */
export function isSameMailbox(left: string, right: string): boolean {
  return canonical(left) === canonical(right)
}

function canonical(address: string): string {
  const [name = '', domain = ''] = address.trim().toLowerCase().split('@')
  return /^(gmail|googlemail)\.com$/.test(domain)
    ? `${name.replaceAll('.', '')}@gmail.com`
    : `${name}@${domain}`
}
