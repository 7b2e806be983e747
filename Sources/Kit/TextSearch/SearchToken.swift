/// A part of a folded text that is indexed and searched as one.
struct SearchToken: Equatable {
    enum Kind { case word, run, pictographs }

    let kind: Kind
    let text: Substring
    /// For a word, the plus and number signs directly behind it: `c++`, `f#`.
    var suffix: Substring = ""

    /// The maximum number of significant signs after a word.
    private static let longestSuffix = 3

    /// Returns the tokens of a folded text (``Swift/String/searchFolded``) in order.
    ///
    /// - Parameter limit: The most tokens; nil for all.
    static func tokens(of folded: String, limit: Int? = nil) -> [SearchToken] {
        let scalars = folded.unicodeScalars
        var tokens: [SearchToken] = []
        var index = scalars.startIndex
        while index < scalars.endIndex, tokens.count < limit ?? .max {
            guard let kind = kind(beginningWith: scalars[index].searchRole) else {
                scalars.formIndex(after: &index)
                continue
            }
            let end = scalars[index...].firstIndex { !kind.includes($0.searchRole) } ?? scalars.endIndex
            var token = SearchToken(kind: kind, text: folded[index..<end])
            index = end
            if kind == .word {
                let signs = scalars[end...].prefix(longestSuffix).prefix { $0 == "+" || $0 == "#" }
                token.suffix = folded[signs.startIndex..<signs.endIndex]
                index = signs.endIndex
            }
            tokens.append(token)
        }
        return tokens
    }

    /// Returns the kind of a token that begins with a scalar; nil if none does.
    private static func kind(beginningWith role: Unicode.Scalar.SearchRole) -> Kind? {
        switch role {
        case .word: .word
        case .unspaced: .run
        case .pictograph: .pictographs
        case .mark, .separator: nil
        }
    }
}

extension SearchToken.Kind {
    fileprivate func includes(_ role: Unicode.Scalar.SearchRole) -> Bool {
        switch (self, role) {
        case (.word, .word), (.word, .mark), (.run, .unspaced), (.pictographs, .pictograph): true
        default: false
        }
    }
}
