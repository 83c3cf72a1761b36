/** Reads the headings of a Markdown page, with the addresses that GitHub gives them. */

export interface Section {
  /** The number of `#` of its heading. */
  readonly level: number
  readonly title: string
  /** The part after `#` in a link to the heading. */
  readonly anchor: string
  /** The text up to the next heading of any level, without code blocks. */
  readonly text: string
}

/** Lists the sections of a page in their order. Text before the first heading belongs to none. */
export function readSections(page: string): readonly Section[] {
  const used = new Map<string, number>()
  const prose = page.replace(/^```.*?^```$/gms, '')
  return prose.split(/^(?=#+ )/m).flatMap((part) => {
    const [, marks = '', title = '', text = ''] = /^(#+) ([^\n]*)\n?(.*)/s.exec(part) ?? []
    if (marks === '') return []
    const slug = slugOf(title)
    const times = used.get(slug) ?? 0
    used.set(slug, times + 1)
    return [{ level: marks.length, title, anchor: times === 0 ? slug : `${slug}-${times}`, text }]
  })
}

function slugOf(title: string): string {
  return title
    .replace(/\[(.*?)\]\(.*?\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
