import Foundation

/// The work that users have begun and that outlives their requests: downloads, and operations that the API finishes.
///
/// It is in the server's own database (``DiskStore``), or in one that several servers share (``SharedJobs``): there a
/// download belongs to one server at a time. Each operation is one transaction.
protocol JobBook: Sendable {
    /// Whether the transaction that stores a content here ends its download, too.
    var endsWithContent: Bool { get }

    /// How often a server says that it goes on with its downloads, and looks for those of servers that do not; nil if
    /// there is no other server.
    var leaseRenewal: Duration? { get }

    /// Returns a download of an account; nil if there is none.
    func download(_ id: String, account: String) async throws -> DownloadJob?

    /// Returns the download of a version of a file that is in progress, or that is done if `job` is; else stores `job`.
    /// All requests for a version share one download.
    ///
    /// - Returns: Nil if the account was logged out meanwhile.
    func share(_ job: DownloadJob, at now: Date) async throws -> (job: DownloadJob, isNew: Bool)?

    /// Stores the state of a download.
    ///
    /// - Returns: False if it does not exist, has already ended, or belongs to another server.
    @discardableResult
    func note(_ job: DownloadJob) async throws -> Bool

    /// Takes the unfinished downloads that belong to no server that runs. They begin again.
    func takeUpDownloads() async throws -> [DownloadJob]

    /// Says that this server goes on with downloads, and how far it is.
    ///
    /// - Returns: The identifiers of those that still belong to it.
    func renew(_ jobs: [DownloadJob]) async throws -> Set<String>

    /// Leaves all downloads of this server to the others.
    func leaveDownloads() async throws

    /// Returns an operation of an account; nil if there is none.
    func operation(_ id: String, account: String) async throws -> DiskOperation?

    /// Stores an operation that continues; the latest 1,000 of an account are kept.
    func keep(_ operation: DiskOperation, at now: Date) async throws

    /// Ends an operation, once.
    ///
    /// - Returns: False if another request has ended it before.
    func finish(_ operation: DiskOperation, as status: DiskOperation.Status) async throws -> Bool
}

extension DiskStore: JobBook {
    var endsWithContent: Bool { true }

    var leaseRenewal: Duration? { nil }

    func takeUpDownloads() async throws -> [DownloadJob] {
        var jobs = try unfinishedDownloads()
        for index in jobs.indices {
            _ = jobs[index].apply(.interrupted)
            try await note(jobs[index])
        }
        return jobs
    }

    func renew(_ jobs: [DownloadJob]) -> Set<String> { Set(jobs.map(\.id)) }

    func leaveDownloads() {}
}
