/** The paths of the page's views: the same file, which reads from its address what to show. */
export const pagePaths: readonly string[] = ['/', '/calls', '/live', '/costs', '/gateway']
