import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

struct Profile: Sendable {
    let disk: Disk

    private var store: DiskStore { disk.store }

    /// `GET /v1/disk/profile`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let (account, result) = try await sizes(request, session)
        let waiting = store.pendingWrites(of: account.id)
        return try disk.response(
            ProfileScreen(account, waiting: waiting?.count),
            "disk.profile",
            result.provenance,
            links: Links(self: request.selfLink),
            pending: waiting,
            lag: store.users.lag,
            changeToken: result.changeToken
        )
    }

    /// `GET /v1/disk/profile/chart.svg`.
    @Sendable func chart(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let (account, result) = try await sizes(request, session)
        var fields: HTTPFields = [
            .cacheControl: "private, no-cache", .contentLanguage: Language.current.rawValue,
            .vary: "Authorization, Cookie, Accept-Language",
        ]
        fields.add(result.provenance, now: disk.clock.now())
        return ScreenResponse(
            headerFields: fields,
            body: .bytes(Data(ProfileChart.svg(account).utf8), type: "image/svg+xml; charset=utf-8"),
            changeToken: result.changeToken
        )
    }

    /// Returns the account with its space after the pending writes.
    private func sizes(_ request: ScreenRequest, _ session: Session) async throws -> (DiskAccount, ReadResult) {
        // Taken before anything is read.
        let changeToken = disk.store.changeToken(account: session.account)
        var (account, result) = try await sent(request, session)
        result.changeToken = result.changeToken?.and(changeToken)
        guard let queue = store.outbox.queue(of: account.id) else { return (account, result) }
        account.space.used = max(0, account.space.used + queue.view.addedBytes)
        return (account, result)
    }

    /// Returns the account with its space as the API has it.
    private func sent(_ request: ScreenRequest, _ session: Session) async throws -> (DiskAccount, ReadResult) {
        let cachePolicy = try request.cachePolicy()
        let readToken = disk.client.upstream.readToken()
        let (account, stored) = try await disk.account(of: session) {
            try disk.storedInfo($0, cachePolicy, since: readToken)
        }
        if let stored { return (account, stored) }
        let result = try await disk.info(account, cachePolicy)
        guard let present = try store.renewed(account) else { throw Problem.loggedOut }
        return (present, result)
    }
}

/// `GET /v1/disk/profile`.
struct ProfileScreen: Encodable, Sendable {
    struct Slice: Encodable, Sendable {
        let id: String
        let fraction: Double
    }

    let total: Int
    let used: Int
    let available: Int
    let trash: Int
    let usedFraction: Double
    let totalText: Text
    let usedText: Text
    let availableText: Text
    let trashText: Text
    /// Sectors of the chart; their sum is 1.
    let chart: [Slice]
    let chartUrl: Link = "/v1/disk/profile/chart.svg"
    let actions: [Action]

    /// - Parameter count: Number of writes that wait; nil if there are none.
    init(_ account: DiskAccount, waiting count: Int? = nil) {
        let space = account.space
        total = space.total
        used = space.used
        // The API may send any two numbers.
        let difference = space.total.subtractingReportingOverflow(space.used)
        available = difference.overflow ? 0 : max(0, difference.partialValue)
        trash = space.trash
        let fraction = Self.fraction(used: used, total: total)
        usedFraction = fraction
        totalText = DiskText.gigabytes(total)
        usedText = .used(DiskText.gigabytes(used))
        availableText = .available(DiskText.gigabytes(available))
        trashText = .inTrash(DiskText.size(trash))
        chart = [Slice(id: "used", fraction: fraction), Slice(id: "available", fraction: 1 - fraction)]
        actions = [
            Action(id: "published", title: .publishedFiles, method: "GET", href: "/v1/disk/published"),
            Action(
                id: "logout",
                title: .logOut,
                method: "DELETE",
                href: LogoutDialog.href,
                confirm: .init(message: LogoutDialog.message(waiting: count), buttons: LogoutDialog.buttons)
            ),
        ]
    }

    /// Returns the used share of the space, from 0 to 1; 0 if there is no space.
    static func fraction(used: Int, total: Int) -> Double {
        total > 0 ? min(max(Double(used) / Double(total), 0), 1) : 0
    }
}

enum ProfileChart {
    private static let radius = 80.0

    /// Returns an SVG document: a ring, its used part in another colour, and the total in the middle.
    static func svg(_ account: DiskAccount) -> String {
        let space = account.space
        let fraction = ProfileScreen.fraction(used: space.used, total: space.total)
        let circumference = 2 * Double.pi * radius
        let used = DiskText.decimal(fraction * circumference)
        let text = DiskText.gigabytes(space.total)[Language.current]
        let label = Text.usedOf(DiskText.gigabytes(space.used), DiskText.gigabytes(space.total))[Language.current]
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200" role="img" aria-label="\(label)">
            <circle cx="100" cy="100" r="80" fill="none" stroke="#d9d9d9" stroke-width="30"/>
            <circle cx="100" cy="100" r="80" fill="none" stroke="#f1afaa" stroke-width="30" \
            stroke-dasharray="\(used) \(DiskText.decimal(circumference))" transform="rotate(-90 100 100)"/>
            <text x="100" y="107" font-family="sans-serif" font-size="20" text-anchor="middle">\(text)</text>
            </svg>

            """
    }
}
