/** Owns what is remembered of the watched paths from one survey to the next. */

export interface Facts {
  get(path: string): string | undefined
  /** Of a survey. */
  set(path: string, fact: string): void
  /** Between surveys; no news for the next one. */
  replace(path: string, fact: string): void
  /**
   * Ends a survey and forgets the paths that were not set in it.
   *
   * @returns whether any path was new, or its fact another than before
   */
  conclude(): boolean
}

/** Kept in place: a new list for each survey would be much to clean up where thousands of files are watched. */
export function createFacts(): Facts {
  const known = new Map<string, { fact: string; survey: number }>()
  let survey = 0
  let isNews = false

  return {
    get: (path) => known.get(path)?.fact,
    set(path, fact) {
      const before = known.get(path)
      if (before?.fact !== fact) isNews = true
      if (!before) known.set(path, { fact, survey })
      else {
        if (before.fact !== fact) before.fact = fact
        before.survey = survey
      }
    },
    replace(path, fact) {
      const before = known.get(path)
      if (before) before.fact = fact
    },
    conclude() {
      for (const [path, last] of known) if (last.survey !== survey) known.delete(path)
      survey++
      const wasNews = isNews
      isNews = false
      return wasNews
    },
  }
}
