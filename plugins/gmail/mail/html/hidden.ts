/**
 * Decides whether an element hides itself. Newsletters hide the line that a list of mails previews, and attackers
 * hide orders to a model. What a style sheet, a colour or the size of letters hides is not noticed. A size of nothing
 * is no sign, because layouts of MJML set it on cells whose content has a size again.
 * https://github.com/mjmlio/mjml/issues/2542
 */
export function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  const { style, hidden } = attributes
  return hidden !== undefined || (style !== undefined && hiding.test(style.slice(0, maxStyleLength)))
}

const maxStyleLength = 2_000

const hiding =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all|(?:opacity|max-height)\s*:\s*0*\.?0+(?:px|em|%)?\s*(?:!|;|$))/i
