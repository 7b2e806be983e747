/// Everything that these tests ask of servers, so that every operation shows every answer it has. Held once for all tests.
enum Conversation {
    private static let held = Task {
        let transcript = Transcript()
        try await withLarder { larder in
            let interview = Interview(larder: larder, transcript: transcript)
            try await interview.system()
            try await interview.nothingFetched()
            try await interview.sessions()
            try await interview.ships()
            try await interview.changes()
            try await interview.problemsOfEveryRequest()
            try await interview.events()
            try await interview.conditional()
            try await interview.upstreamRefuses()
        }
        try await withLarder(["--freshness-ships-s", "0", "--upstreams-spacex-patience-ms", "60000"]) { larder in
            try await Interview(larder: larder, transcript: transcript).upstreamFails()
        }
        try await withLarder(["--upstreams-spacex-patience-ms", "1"]) { larder in
            try await Interview(larder: larder, transcript: transcript).upstreamIsSilent()
        }
        try await withLarder { larder in try await Interview(larder: larder, transcript: transcript).offlineFromTheStart() }
        try await withLarder { larder in try await Interview(larder: larder, transcript: transcript).noShips() }
        try await withLarder { larder in
            let interview = Interview(larder: larder, transcript: transcript)
            try await interview.diskSessions()
            try await interview.disk()
            try await interview.diskChanges()
            try await interview.diskRefusals()
        }
        try await withLarder(["--http-head-timeout-ms", "10"]) { larder in
            try await Interview(larder: larder, transcript: transcript).slowClients()
        }
        try await withLarder(isClosedByBody: true) { larder in try await Interview(larder: larder, transcript: transcript).brokenDatabase() }
        return await transcript.observations
    }

    /// All answers.
    static func observations() async throws -> [Observation] { try await held.value }
}
