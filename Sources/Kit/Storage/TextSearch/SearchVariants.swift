import Foundation

/// Finds other searches for a text, the nearest ones first. The first one has words in any order that begin with those
/// of the text. Then follow other forms of the words, words in the other alphabet or with one typing error, and last
/// another keyboard layout.
///
/// The work is bounded, whatever the text: ``WordQuery/mostWords`` words, `mostLookups` look-ups of stored words.
package final class SearchVariants {
    /// The most look-ups of stored words for one search.
    static let mostLookups = 600
    /// Words that count as another look-up: each is compared.
    private static let wordsOfLookup = 100
    /// The shortest words in which a typing error is looked for.
    static let shortestWithTypo = 4
    /// The shortest words whose stems are compared, and that are spelled in the other alphabet.
    private static let shortestWithStem = 3
    /// The shortest stems: a letter that is left of an ending is in many words.
    private static let shortestStem = 2
    /// The most spellings in the other alphabet in which a typing error is looked for.
    private static let mostWithTypo = 8
    private static let allLengths = 1...StoredWords.longest

    private let stored: StoredWords
    private let stemmer = Stemmer()
    private(set) var lookups = 0

    init(_ stored: StoredWords) {
        self.stored = stored
    }

    /// Returns the first variant by which something is found, with that; nil if there is none.
    ///
    /// - Parameter search: Searches for a variant; nil if it finds nothing.
    package static func first<Found>(
        for text: String,
        among stored: StoredWords,
        _ search: (SearchVariant) throws -> Found?
    ) throws -> (variant: SearchVariant, found: Found)? {
        try SearchVariants(stored).first(for: text.searchFolded, search)
    }

    func first<Found>(for folded: String, _ search: (SearchVariant) throws -> Found?) throws -> (
        variant: SearchVariant, found: Found
    )? {
        var tried: Set<[[[String]]]> = []
        func attempt(_ alternatives: [[Alternative]], also used: [SearchWay] = []) throws -> (SearchVariant, Found)? {
            guard !alternatives.isEmpty, alternatives.allSatisfy({ !$0.isEmpty }) else { return nil }
            let variant = SearchVariant(alternatives, also: used)
            guard tried.insert(variant.words).inserted else { return nil }
            return try search(variant).map { (variant, $0) }
        }
        let words = Self.words(of: folded) ?? []
        if let found = try attempt(words.map(beginnings)) { return found }
        let plain = try words.map(forms)
        let near = { try self.completed(plain, words) { try self.typos($0) + self.spellings($0, with: self.forms) } }
        if let found = try attempt(plain) ?? attempt(joined(near(), words)) { return found }
        let others = KeyboardLayout.other(folded).flatMap(Self.words) ?? []
        let layout = try others.map(forms)
        return try attempt(layout, also: [.layout]) ?? attempt(completed(layout, others, typos), also: [.layout])
            ?? attempt(completed(plain, words) { try spellings($0, most: Self.mostWithTypo, with: typos) })
    }

    /// Returns the words of a folded text; nil if it has something else, such as an emoji.
    private static func words(of folded: String) -> [String]? {
        let tokens = SearchToken.tokens(of: folded, limit: WordQuery.mostWords)
        guard tokens.allSatisfy({ $0.kind == .word && $0.text.unicodeScalars.count <= StoredWords.longest }) else {
            return nil
        }
        return tokens.map { String($0.text) }
    }

    /// Adds alternatives of words that have none, or of all words if each has some.
    private func completed(
        _ known: [[Alternative]],
        _ words: [String],
        _ more: (String) throws -> [Alternative]
    ) throws -> [[Alternative]] {
        let isComplete = known.allSatisfy { !$0.isEmpty }
        return try zip(words, known).map { word, known in
            known.isEmpty || isComplete ? known + Self.sorted(try more(word)) : known
        }
    }

    private static func sorted(_ found: [Alternative]) -> [Alternative] {
        found.sorted { ($0.cost, -$0.rows, $0.words[0]) < ($1.cost, -$1.rows, $1.words[0]) }
    }
}

// MARK: Alternatives of a word

extension SearchVariants {
    /// Stored words that begin with a word, itself first.
    private func beginnings(_ word: String) throws -> [Alternative] {
        if StoredWords.isNumber(word) { return [Alternative(words: [word])] }
        let found = try word.unicodeScalars.count == 1 ? exact(word) : look(stored.beginning, word, Self.allLengths)
        return Self.sorted(
            found.map { Alternative(words: [$0.word], rows: $0.rows, cost: $0.word == word ? 0 : 1) }
        )
    }

    /// ``beginnings(_:)`` and stored words with the same stem.
    private func forms(_ word: String) throws -> [Alternative] {
        let begun = try beginnings(word)
        guard word.unicodeScalars.count >= Self.shortestWithStem, WordScript(word) != nil else { return begun }
        let stem = stemmer.stem(word)
        guard stem.count >= Self.shortestStem else { return begun }
        let known = Set(begun.map(\.words))
        // The last letter of a stem may be another than that of the word (battery, batteri).
        let start = stem.count > Self.shortestWithStem ? String(stem.dropLast()) : stem
        let found = try look(stored.beginning, start.commonPrefix(with: word), Self.allLengths)
            .filter { stemmer.stem($0.word) == stem && !known.contains([$0.word]) }
            .map { Alternative(words: [$0.word], ways: [.stem], rows: $0.rows, cost: 2) }
        return begun + Self.sorted(found)
    }

    /// Stored words from which a word differs by one typing error, with their other forms; or two, if the error is a
    /// space that is missing.
    private func typos(_ word: String) throws -> [Alternative] {
        let letters = Array(word.unicodeScalars)
        guard letters.count >= Self.shortestWithTypo, letters.count <= StoredWords.longest,
            !StoredWords.isNumber(word)
        else { return [] }
        // The error is behind the first half, or before the second one, or both halves have a part of it.
        let half = letters.count / 2
        let lengths = letters.count - 1...letters.count + 1
        let stem = Array(stemmer.stem(word).unicodeScalars)
        // Endings have up to three letters: кроссовок, кроссовками.
        var found = try look(stored.beginning, Self.text(letters[..<half]), letters.count - 3...letters.count + 3)
        found += try look(stored.ending, Self.text(letters[half...]), lengths)
        found += try exact(Self.swapped(letters, at: half))
        let near = found.filter {
            EditDistance.isOne(letters, Array($0.word.unicodeScalars)) || isNear(stem, stemmer.stem($0.word))
        }
        .map { Alternative(words: [$0.word], ways: [.typo], rows: $0.rows, cost: 3) }
        let best = Self.sorted(near).prefix(4)
        let others = try best.flatMap { try forms($0.words[0]) }.map { Self.add(.typo, to: $0) }
        return Self.unique(near + others + (try parts(letters)))
    }

    /// Whether stems differ by one letter: Russian words may lose or gain a vowel (чашка, чашек).
    private func isNear(_ one: [Unicode.Scalar], _ other: String) -> Bool {
        let other = Array(other.unicodeScalars)
        return min(one.count, other.count) >= Self.shortestWithTypo && EditDistance.isOne(one, other)
    }

    /// Two stored words that are written without a space.
    private func parts(_ letters: [Unicode.Scalar]) throws -> [Alternative] {
        try (1..<letters.count).compactMap { end in
            // Short words are in many others.
            guard max(end, letters.count - end) >= 4 || min(end, letters.count - end) >= 2 else { return nil }
            guard let first = try exact(Self.text(letters[..<end])).first,
                let second = try exact(Self.text(letters[end...])).first
            else { return nil }
            return Alternative(
                words: [first.word, second.word],
                ways: [.typo],
                rows: min(first.rows, second.rows),
                cost: 4
            )
        }
    }

    /// Replaces neighbours that are stored as one word, if one of them is not stored.
    private func joined(_ known: [[Alternative]], _ words: [String]) throws -> [[Alternative]] {
        var known = known
        for index in words.indices.dropLast() where known[index].isEmpty || known[index + 1].isEmpty {
            let found = try exact(words[index] + words[index + 1]).map {
                Alternative(words: [$0.word], ways: [.typo], rows: $0.rows, cost: 4)
            }
            guard !found.isEmpty else { continue }
            known[index] = found
            known[index + 1] = found
        }
        return known
    }

    /// Stored words that are a word in the other alphabet.
    private func spellings(
        _ word: String,
        most: Int = Transliteration.most,
        with alternatives: (String) throws -> [Alternative]
    ) throws -> [Alternative] {
        guard lookups < Self.mostLookups, word.count >= Self.shortestWithStem else { return [] }
        var found: [Alternative] = []
        for (number, spelling) in Transliteration.spellings(of: word).prefix(most).enumerated() {
            found += try alternatives(spelling).map {
                var alternative = Self.add(.transliteration, to: $0)
                alternative.cost += number / 8
                return alternative
            }
        }
        return Self.unique(found)
    }

    private static func add(_ way: SearchWay, to alternative: Alternative) -> Alternative {
        var other = alternative
        other.ways = [way] + alternative.ways.filter { $0 != way }
        other.cost += 3
        return other
    }

    private static func unique(_ found: [Alternative]) -> [Alternative] {
        var seen: Set<[String]> = []
        return sorted(found).filter { seen.insert($0.words).inserted }
    }

    private static func swapped(_ letters: [Unicode.Scalar], at index: Int) -> String {
        var letters = letters
        letters.swapAt(index - 1, index)
        return text(letters[...])
    }

    private static func text(_ letters: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(letters))
    }

    private func exact(_ word: String) throws -> [(word: String, rows: Int)] {
        guard lookups < Self.mostLookups else { return [] }
        lookups += 1
        return try stored.rows(word).map { [(word, $0)] } ?? []
    }

    /// Looks words up by a part, unless that was done often enough. Many words have a short part.
    private func look(_ lookup: StoredWords.Lookup, _ part: String, _ lengths: ClosedRange<Int>) throws -> [(
        word: String, rows: Int
    )] {
        guard lookups < Self.mostLookups, !part.isEmpty else { return [] }
        let found = try lookup(part, lengths)
        lookups += 1 + found.count / Self.wordsOfLookup
        return found
    }
}
