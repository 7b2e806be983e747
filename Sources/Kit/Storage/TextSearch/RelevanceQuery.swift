import Foundation

/// The words of a search, compared with texts in memory: a text must have all of them, in any order. Words of a title
/// count more than those of other texts, whole words more than beginnings, these more than other parts.
package struct RelevanceQuery: Sendable, Equatable {
    /// The words in folded form; equal for equal searches.
    package let words: [String]
    private let bytes: [[UInt8]]

    /// - Parameter text: The text as typed.
    package init(_ text: String) {
        let parts = text.searchFolded.split(whereSeparator: \.isWhitespace)
        words = parts.prefix(WordQuery.mostWords).map(String.init)
        bytes = words.map { Array($0.utf8) }
    }

    /// The texts of a row in folded form.
    package struct Texts: Sendable {
        fileprivate let bytes: [UInt8]
        /// Length of the title, after which the other texts follow.
        fileprivate let title: Int

        package init(title: String, others: [String] = []) {
            let title = Array(title.searchFolded.utf8)
            self.title = title.count
            bytes = title + Array("\n\(others.joined(separator: "\n"))".searchFolded.utf8)
        }
    }

    /// The texts of many rows, one after the other: a search reads them from the first to the last.
    package struct Table: Sendable {
        private var bytes: [UInt8] = []
        /// Where the texts of each row end, and the length of its title.
        private var rows: [(end: Int, title: Int)] = []

        package init() {}

        package mutating func append(_ texts: Texts) {
            bytes += texts.bytes
            rows.append((bytes.count, texts.title))
        }

        /// Returns the texts of a row as ``SearchVariant/matches(_:)`` and ``StoredWords`` take them.
        package func folded(_ row: Int) -> String {
            String(decoding: bytes[(row > 0 ? rows[row - 1].end : 0)..<rows[row].end], as: UTF8.self)
        }

        /// Returns the rows that have all words of a search: the most relevant first, others in their order.
        package func hits(of query: RelevanceQuery) -> [(rank: Int, row: Int)] {
            var hits: [[(rank: Int, row: Int)]] = Array(repeating: [], count: RelevanceQuery.ranks)
            bytes.withUnsafeBytes { all in
                var start = 0
                for (index, row) in rows.enumerated() {
                    let texts = UnsafeRawBufferPointer(rebasing: all[start..<row.end])
                    if let rank = query.rank(of: texts, title: row.title) { hits[rank].append((rank, index)) }
                    start = row.end
                }
            }
            return hits.flatMap(\.self)
        }
    }

    /// The number of ranks, from 0 for the most relevant rows.
    private static let ranks = 6

    /// Returns the rank of a row; nil if a word is missing.
    package func rank(of texts: Texts) -> Int? {
        texts.bytes.withUnsafeBytes { rank(of: $0, title: texts.title) }
    }

    private func rank(of texts: UnsafeRawBufferPointer, title: Int) -> Int? {
        var worst = 0
        for word in bytes {
            guard let rank = Self.rank(of: word, in: texts, title: title) else { return nil }
            worst = max(worst, rank)
        }
        return worst
    }

    /// 0 for a whole word, 1 for the beginning of one, 2 for another part, 3 more after the title; nil if there is
    /// none.
    private static func rank(of word: [UInt8], in text: UnsafeRawBufferPointer, title: Int) -> Int? {
        var best: Int?
        var position = 0
        while let start = Self.start(of: word, in: text, from: position) {
            let isInTitle = start < title
            if let best, best < 3, !isInTitle { return best }
            let begins = start == 0 || !text[start - 1].isOfWord
            let ends = start + word.count == text.count || !text[start + word.count].isOfWord
            let rank = (begins ? (ends ? 0 : 1) : 2) + (isInTitle ? 0 : 3)
            if rank == 0 { return 0 }
            best = min(best ?? rank, rank)
            position = start + 1
        }
        return best
    }

    private static func start(of word: [UInt8], in text: UnsafeRawBufferPointer, from first: Int) -> Int? {
        guard let base = text.baseAddress, let letter = word.first else { return nil }
        var position = first
        while case let places = text.count - word.count + 1 - position, places > 0,
            let found = memchr(base + position, Int32(letter), places)
        {
            let start = UnsafeRawPointer(found) - base
            if memcmp(found, word, word.count) == 0 { return start }
            position = start + 1
        }
        return nil
    }
}

extension UInt8 {
    /// Whether it is part of a letter or digit in UTF-8; signs beyond ASCII count as letters.
    fileprivate var isOfWord: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: true
        default: false
        }
    }
}
