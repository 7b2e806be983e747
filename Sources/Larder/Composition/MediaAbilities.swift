import Media
import Screens

/// What work on pictures and documents is possible here, for `/health/ready`. Each program is tried when the
/// first request asks, and the result is kept: programs that are missing at the start are not looked for again. One
/// that is there and fails is tried again at the next request.
actor MediaAbilities {
    private let engine: MediaEngine
    private var attempt: Task<[MediaEngine.Check], Never>?

    init(_ engine: MediaEngine) {
        self.engine = engine
    }

    /// Returns one line for each program, and one for each thing that it was tried for.
    func all() async -> [HealthRoutes.Ability] {
        let attempt = attempt ?? Task { [engine] in await engine.selfTest() }
        self.attempt = attempt
        let findings = await attempt.value
        if findings.contains(where: { !$0.works && engine.tools.paths[$0.tool] != nil }), self.attempt == attempt {
            self.attempt = nil
        }
        return findings.map { found in
            let name = found.tool.executable + (found.ability.map { "/\($0)" } ?? "")
            return HealthRoutes.Ability(name: name, ok: found.works, install: found.works ? nil : found.install)
        }
    }
}
