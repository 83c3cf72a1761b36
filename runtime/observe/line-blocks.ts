/** Owns the blocks that log lines leave in: a line for each request would otherwise be a system call for each. */

export interface LineBlocks {
  write(line: string): void
  /** Passes on what has gathered. */
  pass(): void
}

/** Few enough to lose nothing by, large enough for about fifty lines. Characters. */
const blockLength = 16_384

/**
 * In front of the destination and not left to its `minLength`: it measures all that has gathered anew with every line.
 */
export function createLineBlocks(destination: { write(block: string): unknown }): LineBlocks {
  let block = ''

  function pass(): void {
    if (block === '') return
    const full = block
    block = ''
    destination.write(full)
  }

  return {
    write(line) {
      block += line
      if (block.length >= blockLength) pass()
    },
    pass,
  }
}
