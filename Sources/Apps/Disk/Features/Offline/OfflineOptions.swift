/// What the operator says about offline files.
package struct OfflineOptions: Sendable, Equatable {
    /// Bytes that are kept of each account (`disk.offline_budget_mb`).
    package var budget: Int
    /// Most files and folders that are kept of each account (`disk.offline_files`).
    package var files: Int
    /// Most requests to the API at a time (`disk.offline_fetches`).
    package var fetches: Int
    /// Time between two comparisons with the API (`disk.offline_check_s`).
    package var checkInterval: Duration

    /// Creates options.
    package init(
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
