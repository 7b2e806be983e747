import Testing

@testable import Media

@Suite struct MediaErrorInputTests {
    private func named(_ error: any Error, _ first: Int, of count: Int) -> (any Error)? {
        let part: () throws -> Void = { throw error }
        do {
            try MediaError.OfInput.naming(first, of: count, part)
            return nil
        } catch {
            return error
        }
    }

    @Test("An error of one input names its position in the whole job")
    func position() {
        let error = named(MediaError.OfInput(index: 1, error: .encrypted), 3, of: 2)
        #expect(error as? MediaError.OfInput == .init(index: 4, error: .encrypted))
    }

    @Test("An error that names no input is that of the only one, unless the machine is at fault")
    func only() {
        #expect(named(MediaError.encrypted, 3, of: 1) as? MediaError.OfInput == .init(index: 3, error: .encrypted))
        #expect(named(MediaError.encrypted, 3, of: 2) as? MediaError == .encrypted)
        for error: MediaError in [.overloaded, .toolMissing(.vips), .failed(.vips, "reason")] {
            #expect(named(error, 3, of: 1) as? MediaError == error)
        }
    }
}
