import Foundation
import Screens

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

/// The chart of the profile as a picture.
enum ProfileChart {
    private static let radius = 80.0

    /// Returns an SVG document: a ring, its used part in another colour, and the total in the middle.
    static func svg(_ account: DiskAccount) -> String {
        let space = account.space
        let fraction = ProfileScreen.fraction(used: space.used, total: space.total)
        let circumference = 2 * Double.pi * radius
        let used = hundredths(fraction * circumference)
        let text = DiskText.gigabytes(space.total)[Language.current]
        let label = Text.usedOf(DiskText.gigabytes(space.used), DiskText.gigabytes(space.total))[Language.current]
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200" role="img" aria-label="\(label)">
            <circle cx="100" cy="100" r="80" fill="none" stroke="#d9d9d9" stroke-width="30"/>
            <circle cx="100" cy="100" r="80" fill="none" stroke="#f1afaa" stroke-width="30" \
            stroke-dasharray="\(used) \(hundredths(circumference))" transform="rotate(-90 100 100)"/>
            <text x="100" y="107" font-family="sans-serif" font-size="20" text-anchor="middle">\(text)</text>
            </svg>

            """
    }

    private static func hundredths(_ value: Double) -> String {
        let number = Int((value * 100).rounded())
        let rest = number % 100
        return "\(number / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
