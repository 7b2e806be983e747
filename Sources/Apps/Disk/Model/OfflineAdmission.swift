/// Decides which files fit into the budget of offline contents.
struct OfflineAdmission: Sendable, Equatable {
    /// A file that is not admitted yet.
    struct Candidate: Sendable, Equatable {
        let path: String
        /// Bytes that it needs in addition to those reserved for it already.
        let bytes: Int
    }

    /// The budget in bytes.
    let budget: Int
    /// Bytes that are reserved for other files.
    let reserved: Int

    /// Returns the candidates that are admitted, in their order.
    ///
    /// A thing that was marked is admitted as a whole or not at all, so that nothing of a folder is fetched that cannot
    /// be kept completely. If a folder grows after it was admitted, each new file is admitted if it fits.
    ///
    /// - Parameter isWhole: Whether all of them are admitted, or none.
    func admitted(_ candidates: [Candidate], isWhole: Bool) -> [Candidate] {
        var free = budget - reserved
        var admitted: [Candidate] = []
        for candidate in candidates {
            guard candidate.bytes <= free else {
                if isWhole { return [] }
                continue
            }
            free -= candidate.bytes
            admitted.append(candidate)
        }
        return admitted
    }
}
