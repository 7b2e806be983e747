import Foundation

/// Times as the service writes them: `2024-07-10T16:47:49+00:00`, no fraction.
enum DiskTime {
    static func text(_ date: Date) -> String { String(date.formatted(.iso8601).dropLast()) + "+00:00" }

    static func date(_ text: String) -> Date? { try? Date(text.replacing("+00:00", with: "Z"), strategy: .iso8601) }
}
