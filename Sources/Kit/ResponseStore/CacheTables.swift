public import Database

/// The tables of cached responses and of page lists.
public enum CacheTables {
    /// The steps that make the tables, in their order. The composition root hands them to ``LarderDatabase`` before
    /// those of the apps.
    public static let migrations =
        ResponseStore.migrations + PageStore.migrations + CacheEviction.migrations + ResponseStore.contentTime
}
