/** The public face of the archive of generations. */

export { type ArchiveOptions, type DiskArchive, openGenerationArchive } from './archive.ts'
export { createKeptFiles } from './kept-files.ts'
