/// What the operator says about offline files.
public struct OfflineOptions: Sendable, Equatable {
    /// Bytes that are kept of each account (`disk.offline_budget_mb`).
    public var budget: Int
    /// Most files and folders that are kept of each account (`disk.offline_files`).
    public var files: Int
    /// Most requests to the API at a time (`disk.offline_fetches`).
    public var fetches: Int
    /// Time between two comparisons with the API (`disk.offline_check_s`).
    public var checkInterval: Duration

    /// Creates options.
    public init(
        budget: Int = 2048 << 20,
        files: Int = 10_000,
        fetches: Int = 2,
        checkInterval: Duration = .seconds(900)
    ) {
        self.budget = budget
        self.files = files
        self.fetches = fetches
        self.checkInterval = checkInterval
    }
}
