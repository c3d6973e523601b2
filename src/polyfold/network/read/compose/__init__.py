"""Operations of other frameworks, put together from the few that a network knows."""
