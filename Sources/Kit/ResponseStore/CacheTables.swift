public import Database

/// The tables of cached responses and of page lists.
public enum CacheTables {
    /// The migrations of the tables, in their order. The composition root passes them to `LarderDatabase` before
    /// those of the apps.
    public static let migrations =
        ResponseStore.migrations + PageStore.migrations + CacheEviction.migrations + ResponseStore.contentTime
        + PageStore.changeTime
        + ResponseStore.parts
}
