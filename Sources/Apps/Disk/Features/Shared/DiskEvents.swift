import Screens

/// Publishes events of the app to the sessions of an account.
struct DiskEvents: Sendable {
    let stream: EventStream

    /// The screens that may show others after a change of files.
    static let lists = ["disk.files", "disk.recent", "disk.published"]

    /// The screens that have no revision.
    static let withoutRevision: Set = ["disk.profile", "disk.search"]

    /// Publishes that one screen has changed.
    func screenChanged(_ screen: String, _ revision: Int, account: String) {
        stream.publish(
            .screenChanged(app: DiskApp.name, screen: screen, revision: revision, audience: Self.audience(account))
        )
    }

    /// Publishes that the writes that wait have changed.
    ///
    /// - Parameter pending: Number of them.
    func outboxChanged(_ pending: Int, account: String) {
        stream.publish(
            ServerEvent(
                kind: "outbox-changed",
                data: [("app", .text(DiskApp.name)), ("pending", .number(pending))],
                audience: Self.audience(account)
            )
        )
    }

    /// Publishes the state of a download.
    func downloadChanged(_ job: DownloadJob) {
        stream.publish(
            .job(
                app: DiskApp.name,
                id: job.id,
                status: job.status.rawValue,
                progress: job.progress,
                audience: Self.audience(job.account)
            )
        )
    }

    private static func audience(_ account: String) -> ServerEvent.Audience {
        .account(app: DiskApp.name, account: account)
    }
}
